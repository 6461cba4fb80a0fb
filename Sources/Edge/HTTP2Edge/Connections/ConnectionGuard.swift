internal import NIOCore

/// Guards a connection between its bytes (behind TLS) and the HTTP/2 handler: it answers PINGs,
/// joins small frames, and closes connections that are silent, too old or do not end.
///
/// The transport closes a connection at 200 PINGs in 30 s, whatever their cause, so the guard
/// answers them itself, with a limit of its own. It also observes the transport's GOAWAY, and
/// closes the connection if the peer does not finish; the transport would wait for ever.
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// How long a peer may read the GOAWAY before the connection closes.
    static let farewell = TimeAmount.seconds(1)

    let times: Times
    /// What the connection's calls have of the bounds that tenants share.
    let shares: ConnectionShares
    let onEnd: (ConnectionEnd) -> Void
    private(set) var gate = FrameGate()
    private(set) var outbound = HTTP2FrameReader(side: .server)
    private var budget: PingBudget
    /// PING answers that wait until the transport has written a whole frame.
    private var owedAnswers: [UInt64] = []
    /// Chunks that arrived while an earlier one is being passed on; usually empty.
    private var waiting: [ByteBuffer] = []
    private var isReading = false
    /// Whether bytes were passed on without a channelReadComplete yet.
    private var isReadOpen = false
    private var needsFlush = false
    private var goAways = 0
    /// Whether further bytes of the peer are ignored.
    var isOver = false
    var openStreams = 0
    /// When the last stream closed; valid while none is open.
    var idleSince = NIODeadline.uptimeNanoseconds(0)
    var timers = Timers()

    /// The connection's timeouts.
    struct Times {
        var handshake: TimeAmount
        var idle: TimeAmount
        /// The maximum age, drawn for this connection.
        var age: TimeAmount
        var grace: TimeAmount
    }

    /// Creates a guard; `maxAge` already includes the random variation.
    init(
        _ configuration: ConnectionConfiguration, maxAge: TimeAmount,
        shares: ConnectionShares = ConnectionShares(),
        onEnd: @escaping (ConnectionEnd) -> Void
    ) {
        self.shares = shares
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
        // Passing bytes on may reenter this method if a write fails: later bytes wait for their
        // turn.
        guard !self.isReading else { return self.waiting.append(self.unwrapInboundIn(data)) }
        self.isReading = true
        self.isReadOpen = true
        self.forward(self.unwrapInboundIn(data), context)
        while !self.waiting.isEmpty { self.forward(self.waiting.removeFirst(), context) }
        self.isReading = false
        if let handshake = self.timers.handshake, self.gate.frames.isGreeted {
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
    /// Sends channelReadComplete if the connection closed during a read; the channel does not.
    /// Otherwise the HTTP/2 handler would keep the streams that it has read for, and they would
    /// keep it and the connection alive (swift-nio-http2 1.46.0).
    private func endRead(_ context: ChannelHandlerContext) {
        guard self.isReadOpen else { return }
        self.isReadOpen = false
        // Deferred, because the HTTP/2 handler may be inside that read. The handlers' removal is
        // deferred too, and runs after this.
        context.eventLoop.assumeIsolated().execute { context.fireChannelReadComplete() }
    }

    private func forward(_ chunk: ByteBuffer, _ context: ChannelHandlerContext) {
        var offset = 0
        while !self.isOver, let step = self.gate.next(in: chunk, from: &offset) {
            if let bytes = step.bytes { context.fireChannelRead(self.wrapInboundOut(bytes)) }
            if let ping = step.ping { self.answer(ping, context) }
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
