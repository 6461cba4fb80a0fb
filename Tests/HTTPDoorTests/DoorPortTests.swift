// The handlers of a connection to the HTTP port, without a socket.
@testable internal import HTTP2Edge
@testable internal import HTTPDoor
internal import Logging
internal import NIOCore
internal import NIOEmbedded
internal import Testing

struct DoorPortTests {
    @Test(
        "the first header fields have http.header_seconds from accept, wherever bytes of them come",
        arguments: ["", "P", "GET / HTTP/1.1\r\nHost: a"])
    func headerTimeout(_ sent: String) throws {
        let port = DoorPort(
            configuration: HTTPConfiguration(), doors: DoorSwitch([]),
            limits: MessageLimits(
                EdgeConfiguration(), streamPath: "", methodBytes: [:],
                buffered: BufferedBytes(maxBytes: 1 << 20)),
            admission: ConnectionAdmission(
                ConnectionConfiguration(),
                ends: ConnectionEnds(logger: Logger(label: "test")), open: OpenConnections()),
            tls: nil, count: { _ in })
        let channel = EmbeddedChannel()
        try port.accept(channel)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        if !sent.isEmpty { try channel.writeInbound(ByteBuffer(string: sent)) }
        channel.embeddedEventLoop.advanceTime(by: .seconds(1) - .nanoseconds(1))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
        #expect(!channel.isActive)
    }
}
