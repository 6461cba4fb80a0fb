internal import HTTP2Edge
internal import NIOCore

/// Looks at the first bytes of a connection, behind TLS: HTTP/2 begins with its preface, by what
/// ALPN has chosen or by prior knowledge, and all else is HTTP/1.
final class ProtocolChooser: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The beginning of HTTP/2's preface (RFC 9113, section 3.4): no method of HTTP/1.
    private static let preface = Array("PRI ".utf8)

    private let deadline: NIODeadline
    private let onEnd: (ConnectionEnd) -> Void
    /// Adds the handlers of HTTP/2, or of HTTP/1.
    private let add: (_ isHTTP2: Bool) throws -> Void
    private var first = ByteBuffer()
    private var isChosen = false
    /// What was read while the first bytes were passed on.
    private var waiting = CircularBuffer<ByteBuffer>()
    private var timer: Scheduled<Void>?

    init(
        deadline: NIODeadline, onEnd: @escaping (ConnectionEnd) -> Void,
        add: @escaping (_ isHTTP2: Bool) throws -> Void
    ) {
        self.deadline = deadline
        self.onEnd = onEnd
        self.add = add
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: self.deadline) {
            self.onEnd(.handshake)
            context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.timer?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        self.timer?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.isChosen else { return self.waiting.append(self.unwrapInboundIn(data)) }
        self.first.writeImmutableBuffer(self.unwrapInboundIn(data))
        let start = self.first.readableBytesView.prefix(Self.preface.count)
        let isHTTP2 = Self.preface.starts(with: start)
        // A part of the preface may become either.
        guard !isHTTP2 || start.count == Self.preface.count else { return }
        self.timer?.cancel()
        // From here on this method may be reentered: if a handler that is added here writes and the
        // write fails, the channel reads what is left. Those bytes come behind these.
        self.isChosen = true
        do {
            try self.add(isHTTP2)
        } catch {
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(self.wrapInboundOut(self.first))
        while !self.waiting.isEmpty {
            context.fireChannelRead(self.wrapInboundOut(self.waiting.removeFirst()))
        }
        context.fireChannelReadComplete()
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is ChannelShouldQuiesceEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        // Nobody has asked for anything yet.
        context.close(promise: nil)
    }
}
