internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2
internal import Pacing

/// The outermost handler of each HTTP/2 stream, in front of the gRPC library's own. It enforces a
/// call's limits, inflates and joins its messages, chooses the encoding of its answers, and gives
/// every end of a call a status with its reason. Without it, the library only resets the stream for
/// a message over its limit, for instance, which clients read as CANCELLED and retry.
///
/// `CallStateMachine` decides; this type reads, writes and keeps the timers. It never blocks.
final class StreamEdge: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    /// The pause after a turn of inflating. An immediate task would run before the loop polls its
    /// sockets (swift-nio 2.101.2, `SelectableEventLoop.runOneLoopTick`).
    static let rest = TimeAmount.microseconds(50)

    private let limits: MessageLimits
    private let metadataLimit: MetadataLimit
    private let compressors: CompressorBudget?
    private let connection: ConnectionShares
    private let termination: CallTermination
    private var machine = CallStateMachine()
    private var inflater: MessageInflater?
    /// The bytes of this call that wait for its reader.
    private var buffered: BufferedCall?
    private var hasCompressor = false
    /// Whether the library is handling the client's data.
    private var isPassing = false
    private var messageTimer: Scheduled<Void>?
    private var callTimer: Scheduled<Void>?

    /// Creates the edge of a stream.
    ///
    /// - Parameters:
    ///   - limits: the limits on messages.
    ///   - metadataLimit: the limit on metadata.
    ///   - compressors: the budget of compressors; nil if answers are never compressed.
    ///   - connection: the shares of the connection.
    ///   - termination: words the ends of calls.
    init(
        limits: MessageLimits, metadataLimit: MetadataLimit, compressors: CompressorBudget?,
        connection: ConnectionShares, termination: CallTermination
    ) {
        self.connection = connection
        self.termination = termination
        self.limits = limits
        self.metadataLimit = metadataLimit
        self.compressors = compressors
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        _ = self.machine.end()
        self.release()
        if self.hasCompressor { self.compressors?.giveBack() }
        self.hasCompressor = false
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .headers(let frame):
            guard !self.machine.isIdle else { return self.readHead(frame, context) }
            return self.readTrailers(frame, context)
        case .data(let frame):
            guard case .byteBuffer(let bytes) = frame.data else { break }
            let hasRoom =
                self.machine.isRefused || self.buffered?.add(bytes.readableBytes) ?? true
            let action = self.machine.receive(bytes, isEnd: frame.endStream, hasRoom: hasRoom)
            return self.perform(action, bytes, context) { data }
        default: break
        }
        self.machine.endBurst()
        self.passHeld(context)
        self.pass(data, context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.inflateTurn(context)
        self.watchMessage(context)
        self.machine.endBurst()
        self.passHeld(context)
        context.fireChannelReadComplete()
        // The rest of a refused or ended call is read and dropped.
        if self.machine.isRefused || self.machine.hasEnded { context.read() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.machine.endBurst()
        self.passHeld(context)
        context.fireChannelInactive()
    }

    /// The reader has demand: messages at hand pass first, then the connection is read.
    func read(context: ChannelHandlerContext) {
        guard self.machine.receiveDemand() else { return context.read() }
        self.inflateTurn(context)
        if self.machine.needsBytes { context.read() }
    }

    private func readHead(_ head: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext)
    {
        var frame = head
        let action = self.machine.receiveHead(
            &frame.headers, isEnd: frame.endStream, metadataLimit: self.metadataLimit,
            limits: self.limits)
        switch action {
        case .refuse(let refusal): return self.refuse(refusal, context)
        case .open(let timeout?): self.endCall(after: timeout, context)
        case .open(nil): break
        }
        self.buffered = self.limits.buffered.open(&frame.headers, on: self.connection)
        // Without memory for an inflater, the library would get compressed messages.
        guard self.chooseEncodings(&frame.headers) else {
            return self.refuse(.overloaded, context)
        }
        // The library ignores END_STREAM on a request's headers (grpc-swift-nio-transport 2.9.2),
        // and the call would wait for its messages without end.
        frame.endStream = false
        context.fireChannelRead(self.wrapInboundOut(.headers(frame)))
        if head.endStream { self.passEnd(context) }
    }

    /// The client's trailers, which gRPC does not use, are its half-close. The library would reset
    /// the stream, as for a second head.
    private func readTrailers(
        _ trailers: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext
    ) {
        let (isEnd, bytes) = (trailers.endStream, ByteBuffer())
        let action = self.machine.receive(bytes, isEnd: isEnd, hasRoom: true)
        self.perform(action, bytes, context) { self.frame(bytes, isEnd: isEnd) }
    }

    /// Chooses the encodings of the call; false if there is no memory to inflate its messages.
    private func chooseEncodings(_ headers: inout HPACKHeaders) -> Bool {
        guard let compressors = self.compressors else { return true }
        let wanted = AnswerEncoding.wanted(headers)
        self.hasCompressor = wanted != nil && compressors.take()
        AnswerEncoding.set(self.hasCompressor ? wanted : nil, in: &headers)
        guard let encoding = AnswerEncoding.takeRequestEncoding(from: &headers) else { return true }
        self.inflater = MessageInflater(encoding, maxBytes: self.machine.maxMessageBytes)
        guard self.inflater != nil else { return false }
        self.machine.beginInflating()
        return true
    }

    /// Carries out the machine's action for `bytes`; `frame` wraps them.
    private func perform(
        _ action: CallStateMachine.Action, _ bytes: ByteBuffer, _ context: ChannelHandlerContext,
        _ frame: () -> NIOAny
    ) {
        switch action {
        case .pass:
            self.passHeld(context)
            self.pass(frame(), context)
        case .passHeld: self.passHeld(context)
        case .passEnd:
            self.passHeld(context)
            self.passEnd(context)
        case .inflate: self.inflater?.append(bytes)
        case .drop: break
        case .refuse(let refusal): self.refuse(refusal, context)
        }
    }

    private func passHeld(_ context: ChannelHandlerContext) {
        while let bytes = self.machine.nextHeld() { self.pass(self.frame(bytes), context) }
    }

    /// Passes on the client's half-close.
    private func passEnd(_ context: ChannelHandlerContext) {
        self.pass(self.frame(ByteBuffer(), isEnd: true), context)
    }

    private func pass(_ frame: NIOAny, _ context: ChannelHandlerContext) {
        self.isPassing = true
        context.fireChannelRead(frame)
        self.isPassing = false
    }

    private func frame(_ bytes: ByteBuffer, isEnd: Bool = false) -> NIOAny {
        self.wrapInboundOut(.data(.init(data: .byteBuffer(bytes), endStream: isEnd)))
    }

    // MARK: Inflating

    /// Passes on inflated messages while the reader has demand, which it signals by `read` after
    /// each batch.
    private func inflateTurn(_ context: ChannelHandlerContext) {
        guard self.machine.beginTurn() else { return }
        while let step = self.machine.nextStep() {
            switch step {
            case .inflate: self.inflate(context)
            case .endBatch(let rests):
                self.passHeld(context)
                context.fireChannelReadComplete()
                context.channel.read()
                if rests { self.takeRest(context) }
            }
        }
        // A refused message has ended the turn within its batch.
        if self.machine.isRefused { context.fireChannelReadComplete() }
    }

    private func inflate(_ context: ChannelHandlerContext) {
        guard let inflater = self.inflater else { return }
        let next: ByteBuffer?
        do {
            next = try self.nextMessage(of: inflater)
        } catch {
            self.buffered?.take(inflater.pendingBytes)
            self.inflater = nil
            let action = self.machine.refuse(error)
            return self.perform(action, ByteBuffer(), context) { self.frame(ByteBuffer()) }
        }
        guard let message = next else {
            let action = self.machine.receiveNoMessage(hasRest: inflater.hasRest)
            return self.perform(action, ByteBuffer(), context) { self.frame(ByteBuffer()) }
        }
        let hasRoom = self.buffered?.add(message.readableBytes) ?? true
        let action = self.machine.receiveInflated(message, hasRoom: hasRoom)
        self.perform(action, message, context) { self.frame(message) }
    }

    /// The next inflated message. Removes its compressed bytes from the count.
    private func nextMessage(
        of inflater: MessageInflater
    ) throws(InflateFailure) -> ByteBuffer? {
        let pendingBytes = inflater.pendingBytes
        defer { self.buffered?.take(pendingBytes &- inflater.pendingBytes) }
        return try inflater.next()
    }

    /// Pauses so that other streams are served, then continues.
    private func takeRest(_ context: ChannelHandlerContext) {
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.rest) {
            self.machine.endRest()
            guard !self.machine.hasEnded else { return context.read() }
            self.inflateTurn(context)
            self.watchMessage(context)
            if self.machine.needsBytes { context.read() }
        }
    }

    // MARK: Timers

    /// Ends the call at its deadline.
    private func endCall(after time: TimeAmount, _ context: ChannelHandlerContext) {
        self.callTimer = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            self.callTimer = nil
            self.refuse(.deadlinePassed, context)
        }
    }

    /// Limits the time of the message that is being received, if it is incomplete.
    private func watchMessage(_ context: ChannelHandlerContext) {
        guard let time = self.machine.watchMessage(at: context.eventLoop.now) else { return }
        self.startMessageTimer(time, context)
    }

    private func startMessageTimer(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        self.messageTimer = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            self.messageTimer = nil
            switch self.machine.messageTimerFired(at: context.eventLoop.now) {
            case .nothing: break
            case .wait(let time): self.startMessageTimer(time, context)
            case .refuse(let refusal): self.refuse(refusal, context)
            }
        }
    }

    // MARK: Answers and the end

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch self.unwrapOutboundIn(data) {
        case .headers(var frame):
            guard frame.endStream else {
                self.machine.sendHead()
                break
            }
            let isSuccess = frame.headers.first(name: "grpc-status") == "0"
            let refusal = self.machine.sendTrailers(isSuccess: isSuccess)
            self.release()
            if let refusal {
                let needsHead = frame.headers.contains(name: ":status")
                frame.headers = self.trailers(refusal, needsHead: needsHead)
            } else {
                self.termination.complete(&frame.headers)
            }
            frame.headers = frame.headers.unindexed
            context.write(self.wrapOutboundOut(.headers(frame)), promise: promise)
            // The library may have stopped reading, but the half-close must still be read.
            context.read()
            return
        case .data(let frame):
            self.write(frame, data, promise, context)
            return
        case .rstStream:
            _ = self.machine.end()
            self.release()
        default: break
        }
        context.write(data, promise: promise)
    }

    /// Writes a frame of an answer. A large one counts as buffered until it is written; if too much
    /// waits, its call ends and the client retries. Small ones are not counted: the library holds
    /// no more of them than a channel's high-water mark. An answer counts by its buffer's memory,
    /// up to twice its bytes.
    private func write(
        _ frame: HTTP2Frame.FramePayload.Data, _ data: NIOAny,
        _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) {
        guard case .byteBuffer(let bytes) = frame.data,
            bytes.readableBytes > BufferedCall.freeBytes, let call = self.buffered
        else {
            context.write(data, promise: promise)
            return
        }
        let byteCount = bytes.storageCapacity
        guard let share = call.hold(answer: byteCount) else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            self.refuse(.overloaded, context)
            return
        }
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.whenComplete { _ in share.remove(byteCount) }
        context.write(data, promise: written)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // A status would not get out of a stream that takes no bytes: `UnreadAnswersHandler` closes
        // those.
        let canTell = context.channel.isActive && context.channel.isWritable
        if mode == .all, canTell,
            let cause = self.machine.closeCause(isReading: self.isPassing)
        {
            self.end(cause, context)
        }
        context.close(mode: mode, promise: promise)
    }

    /// Ends the call with a status, unless it has ended.
    private func refuse(_ refusal: CallRefusal, _ context: ChannelHandlerContext) {
        if self.end(refusal, context) { context.close(promise: nil) }
    }

    /// Ends the call with a status and resets its stream; false if it had ended.
    @discardableResult
    private func end(_ refusal: CallRefusal, _ context: ChannelHandlerContext) -> Bool {
        guard let ending = self.machine.end() else { return false }
        self.release()
        let headers = self.trailers(refusal, needsHead: ending.needsHead)
        let frame = HTTP2Frame.FramePayload.Headers(headers: headers, endStream: true)
        context.write(self.wrapOutboundOut(.headers(frame)), promise: nil)
        // NO_ERROR lets a client that still sends stop and use the status (RFC 9113, 8.1); a plain
        // close would send CANCEL instead.
        context.writeAndFlush(self.wrapOutboundOut(.rstStream(.noError)), promise: nil)
        return true
    }

    /// The trailers of a refused call, with the headers of its answer if it has none.
    private func trailers(_ refusal: CallRefusal, needsHead: Bool) -> HPACKHeaders {
        var headers: HPACKHeaders =
            needsHead ? [":status": "200", "content-type": "application/grpc"] : [:]
        headers.add(contentsOf: self.termination.trailers(refusal).unindexed)
        return headers
    }

    /// Stops the timers, and releases pending compressed bytes. Held messages pass at the end of
    /// their burst: the library handles them.
    private func release() {
        self.inflater = nil
        self.messageTimer?.cancel()
        self.messageTimer = nil
        self.callTimer?.cancel()
        self.callTimer = nil
        self.buffered?.close()
        self.buffered = nil
    }
}
