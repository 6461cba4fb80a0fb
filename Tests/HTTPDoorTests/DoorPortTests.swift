// The handlers of a connection to the HTTP port, without a socket.
@testable internal import HTTP2Edge
@testable internal import HTTPDoor
internal import Logging
internal import NIOCore
internal import NIOEmbedded
internal import Testing

struct DoorPortTests {
    private func port() -> DoorPort {
        DoorPort(
            configuration: HTTPConfiguration(), doors: DoorSwitch([]),
            limits: MessageLimits(
                EdgeConfiguration(), streamPath: "", methodBytes: [:],
                buffered: BufferedBytes(maxBytes: 1 << 20)),
            admission: ConnectionAdmission(
                ConnectionConfiguration(),
                ends: ConnectionEnds(logger: Logger(label: "test")), open: OpenConnections()),
            tls: nil, count: { _ in })
    }

    @Test(
        "the first header fields have http.header_seconds from accept, wherever bytes of them come",
        arguments: ["", "P", "GET / HTTP/1.1\r\nHost: a"])
    func headerTimeout(_ sent: String) throws {
        let channel = EmbeddedChannel()
        try self.port().accept(channel)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        if !sent.isEmpty { try channel.writeInbound(ByteBuffer(string: sent)) }
        channel.embeddedEventLoop.advanceTime(by: .seconds(1) - .nanoseconds(1))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
        #expect(!channel.isActive)
    }

    @Test(
        "a connection ends http.idle_seconds after its last answer, whatever timer was set before")
    func idleTimeout() async throws {
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext { try self.port().accept(channel) }
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
        for _ in 0..<3 {
            try await channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
            let answer = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
            #expect(String(buffer: answer).hasPrefix("HTTP/1.1 404"))
            await channel.testingEventLoop.advanceTime(by: .seconds(60) - .nanoseconds(1))
            #expect(channel.isActive)
            while try await channel.readOutbound(as: ByteBuffer.self) != nil {}
        }
        await channel.testingEventLoop.advanceTime(by: .nanoseconds(1))
        #expect(!channel.isActive)
    }

    @Test("a body has http.body_seconds from its header fields, also behind another request")
    func bodyTimeout() async throws {
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext { try self.port().accept(channel) }
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"
        try await channel.writeInbound(ByteBuffer(string: head + "123456789" + head + "1"))
        let first = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
        #expect(String(buffer: first).hasPrefix("HTTP/1.1 404"))
        while try await channel.readOutbound(as: ByteBuffer.self) != nil {}
        await channel.testingEventLoop.advanceTime(by: .seconds(30) - .nanoseconds(1))
        #expect(try await channel.readOutbound(as: ByteBuffer.self) == nil)
        await channel.testingEventLoop.advanceTime(by: .nanoseconds(1))
        let late = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
        #expect(String(buffer: late).hasPrefix("HTTP/1.1 408"))
    }
}
