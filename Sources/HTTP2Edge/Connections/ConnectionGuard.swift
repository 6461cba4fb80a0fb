// Stands between a peer's bytes and the HTTP/2 handler of one connection (behind TLS where there is
// TLS): answers PINGs, and ends what is silent, too old, or will not end by itself.
internal import NIOCore

/// The guard of one connection. The transport behind it ends a connection at 200 PINGs in 30 s,
/// whatever they are for, so the guard answers them itself, with a limit of its own. It also sees
/// the transport's GOAWAY go out, whatever for, and closes the connection when a peer does not let
/// it end: the transport alone would wait for an answer for ever.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How long a peer that is cut off has to read why.
    static let farewell = TimeAmount.seconds(1)

    let times: Times
    let onEnd: (ConnectionEnd) -> Void
    private(set) var inbound = HTTP2FrameReader(side: .client)
    private(set) var outbound = HTTP2FrameReader(side: .server)
    private var budget: PingBudget
    /// Answers that wait for the end of a frame that the transport is writing.
    private var owedAnswers: [UInt64] = []
    /// Chunks that came while an earlier one is being handed on; nearly always none.
    private var waiting: [ByteBuffer] = []
    private var isReading = false
    /// Whether bytes have been handed on, and the end of their read has not.
    private var isReadOpen = false
    private var needsFlush = false
    private var goAways = 0
    /// Nothing of this peer is read any more.
    var isOver = false
    var openStreams = 0
    /// Since when no stream has been open, while none is.
    var idleSince = NIODeadline.uptimeNanoseconds(0)
    var timers = Timers()

    /// How long each thing may take.
    struct Times {
        var handshake: TimeAmount
        var idle: TimeAmount
        /// Drawn for this connection.
        var age: TimeAmount
        var grace: TimeAmount
    }

    /// A guard of a connection that ends at `maxAge`, which has been drawn already.
    init(
        _ configuration: ConnectionConfiguration, maxAge: TimeAmount,
        onEnd: @escaping (ConnectionEnd) -> Void
    ) {
        self.times = Times(
            handshake: TimeAmount(configuration.handshakeTimeout),
            idle: TimeAmount(configuration.idleTimeout), age: maxAge,
            grace: TimeAmount(configuration.grace))
        self.budget = PingBudget(
            allowance: configuration.pingAllowance, perAnswer: configuration.pingsPerAnswer)
        self.onEnd = onEnd
    }

    func handlerAdded(context: ChannelHandlerContext) { self.startTimers(context) }

    func handlerRemoved(context: ChannelHandlerContext) { self.timers.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        self.timers.cancel()
        self.endRead(context)
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Handing on may lead here again, when a write fails: what comes then waits for its turn.
        guard !self.isReading else { return self.waiting.append(self.unwrapInboundIn(data)) }
        self.isReading = true
        self.isReadOpen = true
        self.handOn(self.unwrapInboundIn(data), context)
        while !self.waiting.isEmpty { self.handOn(self.waiting.removeFirst(), context) }
        self.isReading = false
        if let handshake = self.timers.handshake, self.inbound.isGreeted {
            handshake.cancel()
            self.timers.handshake = nil
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.isReadOpen = false
        if self.needsFlush {
            self.needsFlush = false
            context.flush()
        }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) { if !self.isOver { context.read() } }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let chunk = self.unwrapOutboundIn(data)
        var offset = 0
        while self.outbound.next(chunk.readableBytesUInt8Span, from: &offset) != nil {}
        context.write(data, promise: promise)
        if !self.owedAnswers.isEmpty, self.outbound.isAtBoundary {
            for ping in self.owedAnswers { self.writeAnswer(ping, context) }
            self.owedAnswers.removeAll()
        }
        if self.outbound.goAways > self.goAways {
            self.goAways = self.outbound.goAways
            self.goAwayWasSent(context)
        }
    }
}

extension ConnectionGuard {
    /// Ends the read in the middle of which a connection was closed: the channel does not. Until
    /// then the HTTP/2 handler keeps the streams that it has read for (swift-nio-http2 1.46.0),
    /// and they keep it, the connection and all of its handlers, for ever.
    private func endRead(_ context: ChannelHandlerContext) {
        guard self.isReadOpen else { return }
        self.isReadOpen = false
        // Not now: the HTTP/2 handler may be in the middle of that read. The handlers are removed
        // after this, in the same way.
        context.eventLoop.assumeIsolated().execute { context.fireChannelReadComplete() }
    }

    private func handOn(_ chunk: ByteBuffer, _ context: ChannelHandlerContext) {
        var offset = 0
        while !self.isOver,
            let piece = self.inbound.next(chunk.readableBytesUInt8Span, from: &offset)
        {
            switch piece {
            case .bytes(let range) where range.count == chunk.readableBytes:
                context.fireChannelRead(self.wrapInboundOut(chunk))
            case .bytes(let range):
                let start = chunk.readerIndex &+ range.lowerBound
                guard let slice = chunk.getSlice(at: start, length: range.count) else { continue }
                context.fireChannelRead(self.wrapInboundOut(slice))
            case .header(let header):
                let bytes = context.channel.allocator.buffer(bytes: header.bytes)
                context.fireChannelRead(self.wrapInboundOut(bytes))
            case .ping(let data): self.answer(data, context)
            }
        }
    }

    private func answer(_ ping: UInt64, _ context: ChannelHandlerContext) {
        guard self.budget.takes(at: context.eventLoop.now, answers: self.outbound.answers) else {
            return self.cutOff(context)
        }
        if self.outbound.isAtBoundary {
            self.writeAnswer(ping, context)
        } else {
            self.owedAnswers.append(ping)
        }
    }

    private func writeAnswer(_ ping: UInt64, _ context: ChannelHandlerContext) {
        self.writeOwn(HTTP2FrameHeader.pingAnswer(ping), context)
        self.needsFlush = true
    }

    func writeOwn(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        let buffer = context.channel.allocator.buffer(bytes: bytes)
        context.write(self.wrapOutboundOut(buffer), promise: nil)
    }
}
