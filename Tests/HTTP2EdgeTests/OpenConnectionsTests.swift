// A server that must end closes connections that do not end themselves.
@testable internal import HTTP2Edge
internal import NIOCore
internal import NIOEmbedded
internal import Synchronization
internal import Testing

struct OpenConnectionsTests {
    /// Closes when it is told that the server stops, as connections do.
    private final class Ending: ChannelInboundHandler {
        typealias InboundIn = Any

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is ChannelShouldQuiesceEvent { context.close(promise: nil) }
        }
    }

    @Test("all are told that the server stops, and their end is told once", arguments: [0, 1, 3])
    func quiesce(_ count: Int) throws {
        let connections = OpenConnections()
        let channels = try (0..<count).map { _ in
            let channel = EmbeddedChannel(handler: Ending())
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            connections.add(channel)
            return channel
        }
        let ends = Atomic(0)
        connections.quiesceAll { ends.add(1, ordering: .relaxed) }
        for channel in channels {
            #expect(ends.load(ordering: .relaxed) == 0)
            channel.embeddedEventLoop.run()
            #expect(!channel.isActive)
        }
        #expect(ends.load(ordering: .relaxed) == 1)
    }

    @Test("one that is accepted just as the port closes is told too, once it has its handlers")
    func late() throws {
        let connections = OpenConnections()
        let early = EmbeddedChannel()
        try early.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        connections.add(early)
        let ends = Atomic(0)
        connections.quiesceAll { ends.add(1, ordering: .relaxed) }
        let late = EmbeddedChannel()
        try late.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        connections.add(late)
        try late.pipeline.syncOperations.addHandler(Ending())
        late.embeddedEventLoop.run()
        #expect(!late.isActive && ends.load(ordering: .relaxed) == 0)
        connections.closeAll()
        early.embeddedEventLoop.run()
        #expect(ends.load(ordering: .relaxed) == 1)
    }

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
