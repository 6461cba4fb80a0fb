internal import NIOCore

/// Looks at a connection's first bytes, and tells a peer that speaks HTTP/1 what this port is.
///
/// Until then it holds back what the transport sends first, its SETTINGS: they would be garbage to
/// such a peer. A client of HTTP/2 does not wait for them (RFC 9113, section 3.4).
final class FirstBytesHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What the port speaks. All that does not begin as a request of HTTP/1 passes: HTTP/2 where
    /// TLS is expected, too, as its clients name the end of the handshake better than an answer of
    /// HTTP/1.
    enum Expected {
        case http2
        case tls
        /// TLS of the HTTP port.
        case https
    }

    private enum State {
        case waiting
        case passing
        case refused
    }

    /// The beginnings of HTTP/1's requests. A peer that sends less of them at once gets no words.
    private static let methods = ["GET ", "HEAD", "POST", "PUT ", "DELE", "OPTI", "PATC", "CONN"]

    private let expected: Expected
    private var state = State.waiting
    private var held: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
    private var needsFlush = false
    private var closing: Scheduled<Void>?

    init(expected: Expected) { self.expected = expected }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.closing?.cancel()
        self.dropHeld()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if self.state == .waiting {
            let start = self.unwrapInboundIn(data).readableBytesView.prefix(4)
            if Self.methods.contains(String(decoding: start, as: UTF8.self)) {
                self.refuse(context)
            } else {
                self.pass(context)
            }
        }
        if self.state == .passing { context.fireChannelRead(data) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch self.state {
        case .waiting: self.held.append((self.unwrapOutboundIn(data), promise))
        case .passing: context.write(data, promise: promise)
        case .refused: promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    func flush(context: ChannelHandlerContext) {
        switch self.state {
        case .waiting: self.needsFlush = true
        case .passing: context.flush()
        case .refused: break
        }
    }
}

extension FirstBytesHandler {
    private func pass(_ context: ChannelHandlerContext) {
        self.state = .passing
        for (bytes, promise) in self.held {
            context.write(self.wrapOutboundOut(bytes), promise: promise)
        }
        self.held.removeAll()
        if self.needsFlush { context.flush() }
    }

    private func refuse(_ context: ChannelHandlerContext) {
        self.state = .refused
        self.dropHeld()
        let answer = context.channel.allocator.buffer(string: Self.answer(self.expected))
        // Who reads to the end has it now. If all closed with unread bytes, the kernel would send
        // RST, and the peer lose the answer.
        context.writeAndFlush(self.wrapOutboundOut(answer)).assumeIsolated().whenComplete { _ in
            context.close(mode: .output, promise: nil)
        }
        self.closing = context.eventLoop.assumeIsolated().scheduleTask(
            in: ConnectionGuard.farewell
        ) { context.close(promise: nil) }
    }

    private func dropHeld() {
        for (_, promise) in self.held { promise?.fail(ChannelError.ioOnClosedChannel) }
        self.held.removeAll()
    }

    /// A response of HTTP/1, which any peer that speaks some HTTP shows or logs.
    static func answer(_ expected: Expected) -> String {
        let body =
            switch expected {
            case .http2:
                "This port speaks gRPC (HTTP/2): send events with a client library of Sightline "
                    + "or `sightline send`. The live page, metrics and probes are at "
                    + "admin.listen.\n"
            case .tls:
                "This port speaks TLS, and gRPC in it: give the client the roots of the server's "
                    + "certificate, as in `sightline send --tls-roots FILE`.\n"
            case .https:
                "This port speaks TLS, and HTTP in it: ask for it by https://, and give the client "
                    + "the roots of the server's certificate.\n"
            }
        return "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
            + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n" + body
    }
}
