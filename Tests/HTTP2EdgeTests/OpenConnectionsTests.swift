// A server that must end closes connections that do not end themselves.
@testable internal import HTTP2Edge
internal import NIOCore
internal import NIOEmbedded
internal import Testing

struct OpenConnectionsTests {
    @Test("all that are open are closed, and those that have gone are not kept")
    func closeAll() throws {
        let connections = OpenConnections()
        let channels = try (0..<3).map { _ in
            let channel = EmbeddedChannel()
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            connections.add(channel)
            return channel
        }
        #expect(connections.count == 3)
        try channels[0].close().wait()
        channels[0].embeddedEventLoop.run()
        #expect(connections.count == 2)
        connections.closeAll()
        for channel in channels { channel.embeddedEventLoop.run() }
        #expect(channels.allSatisfy { !$0.isActive })
        #expect(connections.count == 0)
    }
}
