// What a peer hears that takes the port for another.
@testable internal import HTTP2Edge
internal import NIOCore
internal import NIOEmbedded
internal import Testing

struct FirstBytesHandlerTests {
    private let channel = EmbeddedChannel()
    private let closing = Closing()

    /// What of the channel is closed. A channel without a socket would close as a whole.
    private final class Closing: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var modes: [CloseMode] = []

        func close(
            context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
        ) {
            self.modes.append(mode)
            guard mode == .all else { return }
            context.close(mode: mode, promise: promise)
        }
    }

    private func add(_ expected: FirstBytesHandler.Expected) throws {
        try self.channel.pipeline.syncOperations.addHandlers([
            self.closing, FirstBytesHandler(expected: expected),
        ])
        try self.channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    private func receive(_ text: String) throws {
        try self.channel.writeInbound(ByteBuffer(string: text))
    }

    private func sent() throws -> String {
        var text = ""
        while let buffer = try self.channel.readOutbound(as: ByteBuffer.self) {
            text += String(buffer: buffer)
        }
        return text
    }

    private func passedOn() throws -> String? {
        try self.channel.readInbound(as: ByteBuffer.self).map { String(buffer: $0) }
    }

    @Test(
        "a request of HTTP/1 is told what the port is, and nothing else",
        arguments: [
            (FirstBytesHandler.Expected.http2, "GET / HTTP/1.1\r\n\r\n", "speaks gRPC"),
            (.http2, "POST /v1/events HTTP/1.1\r\n\r\n{}", "speaks gRPC"),
            (.tls, "GET / HTTP/1.1\r\n\r\n", "speaks TLS"),
        ])
    func told(expected: FirstBytesHandler.Expected, request: String, words: String) throws {
        try self.add(expected)
        // It is not written yet, and so is not waited for.
        self.channel.writeAndFlush(ByteBuffer(string: "SETTINGS"), promise: nil)
        #expect(try self.sent() == "", "the peer has said nothing yet")
        try self.receive(request)
        let answer = try self.sent()
        #expect(answer.hasPrefix("HTTP/1.1 400 "))
        #expect(answer.contains(words) && !answer.contains("SETTINGS"))
        try self.receive("more")
        #expect(try self.passedOn() == nil)
        #expect(self.closing.modes == [.output], "it has a moment to read the answer")
        self.channel.embeddedEventLoop.advanceTime(by: ConnectionGuard.farewell)
        #expect(self.closing.modes == [.output, .all])
    }

    @Test(
        "what may be right passes whole, and with it what waited",
        arguments: [
            (FirstBytesHandler.Expected.http2, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
            (.tls, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), (.http2, "P"), (.tls, "G"),
            (.http2, "\u{16}\u{3}\u{1}"), (.tls, "\u{16}\u{3}\u{1}"),
        ])
    func passes(expected: FirstBytesHandler.Expected, bytes: String) throws {
        try self.add(expected)
        // It is not written yet, and so is not waited for.
        self.channel.writeAndFlush(ByteBuffer(string: "SETTINGS"), promise: nil)
        try self.receive(bytes)
        #expect(try self.passedOn() == bytes && self.sent() == "SETTINGS")
        try self.receive("GET ")
        #expect(try self.passedOn() == "GET ", "only the first bytes are looked at")
        try self.channel.writeOutbound(ByteBuffer(string: "DATA"))
        #expect(try self.sent() == "DATA")
    }
}
