internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// The outermost handler of each HTTP/2 stream, in front of the gRPC library's own. It chooses the
/// encoding of answers, and makes every end of a call state its reason: for a message over its
/// limit, for instance, the library only resets the stream, which clients read as CANCELLED and
/// retry.
final class StreamEdge: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    let limits: MessageLimits
    private let metadataLimit: MetadataLimit
    private let compressors: CompressorBudget?
    private let termination: CallTermination
    private var hasCompressor = false
    private var hasHead = false
    private var hasAnswerHead = false
    private var isReadingData = false
    /// Whether the call has ended, so that further requests are dropped.
    private(set) var hasEnded = false
    private(set) var maxMessageBytes = MessageLimits.maxBytes
    private(set) var inflater: MessageInflater?
    /// Counts uncompressed messages.
    var messages = MessageCounter(maxBytes: 0)
    /// The bytes of this call that wait for its reader.
    private(set) var buffered: BufferedCall?
    /// The incomplete message's number, and when it began.
    var unfinished: (message: Int, since: NIODeadline)?
    var deadline: Scheduled<Void>?
    /// Ends the call at its deadline.
    private var callEnd: Scheduled<Void>?
    /// Whether the client has half-closed, and whether the library has yet to learn that.
    var isSent = false
    var endIsDue = false
    /// Whether the client may pause between its messages for any time.
    private(set) var isStream = false
    /// Whether the reader has demand, and whether messages are being passed on.
    var isWanted = false
    var isForwarding = false
    /// Whether the event loop's other streams have their turn.
    var isResting = false

    /// Creates the edge of a stream.
    ///
    /// - Parameters:
    ///   - limits: the limits on messages.
    ///   - metadataLimit: the limit on metadata.
    ///   - compressors: the budget of compressors; nil if answers are never compressed.
    ///   - termination: words the ends of calls.
    init(
        limits: MessageLimits, metadataLimit: MetadataLimit, compressors: CompressorBudget?,
        termination: CallTermination
    ) {
        self.termination = termination
        self.limits = limits
        self.metadataLimit = metadataLimit
        self.compressors = compressors
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.hasHead else {
            self.readBody(data, context)
            return
        }
        self.hasHead = true
        guard case .headers(let frame) = self.unwrapInboundIn(data) else {
            context.fireChannelRead(data)
            return
        }
        self.readHead(frame, context)
    }

    private func readHead(_ head: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext)
    {
        var frame = head
        if let refusal = self.metadataLimit.refusal(of: frame.headers) {
            return self.refuse(refusal, context)
        }
        switch CallTimeout.take(from: &frame.headers) {
        case .none: break
        case .after(let time): self.endCall(after: time, context)
        case .malformed(let value): return self.refuse(.timeout(CallTimeout.shown(value)), context)
        }
        let path = frame.headers.first(name: ":path")
        self.isStream = path == self.limits.streamPath
        self.maxMessageBytes = self.limits.maxBytes(at: path)
        self.buffered = self.limits.buffered.open(&frame.headers, isStream: self.isStream)
        self.messages = MessageCounter(
            maxBytes: LengthPrefixedMessages.prefixBytes + self.maxMessageBytes)
        if let compressors = self.compressors {
            let wanted = AnswerEncoding.wanted(frame.headers)
            self.hasCompressor = wanted != nil && compressors.take()
            AnswerEncoding.set(self.hasCompressor ? wanted : nil, in: &frame.headers)
            if let encoding = AnswerEncoding.takeRequestEncoding(from: &frame.headers) {
                self.inflater = MessageInflater(encoding, maxBytes: self.maxMessageBytes)
            }
        }
        // The library ignores END_STREAM on a request's headers (grpc-swift-nio-transport 2.9.2),
        // and the call would wait for its requests for ever.
        self.isSent = frame.endStream
        frame.endStream = false
        context.fireChannelRead(self.wrapInboundOut(.headers(frame)))
        if self.isSent { self.passEnd(context) }
    }

    /// Ends the call at its deadline.
    private func endCall(after time: TimeAmount, _ context: ChannelHandlerContext) {
        self.callEnd = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            self.callEnd = nil
            self.refuse(.deadlinePassed, context)
        }
    }

    /// Passes on the client's half-close.
    func passEnd(_ context: ChannelHandlerContext) {
        let end = HTTP2Frame.FramePayload.Data(data: .byteBuffer(ByteBuffer()), endStream: true)
        self.pass(self.wrapInboundOut(.data(end)), context)
    }

    /// Passes on a frame.
    func pass(_ data: NIOAny, _ context: ChannelHandlerContext) {
        self.isReadingData = true
        context.fireChannelRead(data)
        self.isReadingData = false
    }

    /// Ends the call with a status, unless it has ended.
    func refuse(_ refusal: CallRefusal, _ context: ChannelHandlerContext) {
        guard !self.hasEnded else { return }
        self.end(refusal, context)
        context.close(promise: nil)
    }

    /// Ends the call with a status and resets its stream.
    private func end(_ refusal: CallRefusal, _ context: ChannelHandlerContext) {
        self.becomeEnded()
        var headers: HPACKHeaders =
            self.hasAnswerHead ? [:] : [":status": "200", "content-type": "application/grpc"]
        headers.add(contentsOf: self.termination.trailers(refusal).unindexed)
        let frame = HTTP2Frame.FramePayload.Headers(headers: headers, endStream: true)
        context.write(self.wrapOutboundOut(.headers(frame)), promise: nil)
        // NO_ERROR lets a client that still sends stop and use the status (RFC 9113, 8.1); a plain
        // close would send CANCEL instead.
        context.writeAndFlush(self.wrapOutboundOut(.rstStream(.noError)), promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch self.unwrapOutboundIn(data) {
        case .headers(var frame):
            self.hasAnswerHead = true
            guard frame.endStream else { break }
            self.becomeEnded()
            self.termination.complete(&frame.headers)
            frame.headers = frame.headers.unindexed
            context.write(self.wrapOutboundOut(.headers(frame)), promise: promise)
            // The library may have stopped reading, and the half-close is still to be read.
            context.read()
            return
        case .data(let frame):
            self.write(frame, data, promise, context)
            return
        case .rstStream: self.becomeEnded()
        default: break
        }
        context.write(data, promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // While the library handles the client's data, it closes for one reason only: a message
        // over its limit.
        if mode == .all, self.isReadingData, !self.hasEnded {
            self.end(.messageTooLarge(maxBytes: self.maxMessageBytes), context)
        }
        context.close(mode: mode, promise: promise)
    }

    /// Releases everything received of the client's messages.
    private func becomeEnded() {
        self.hasEnded = true
        self.inflater = nil
        self.deadline?.cancel()
        self.deadline = nil
        self.callEnd?.cancel()
        self.callEnd = nil
        self.buffered?.close()
        self.buffered = nil
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.becomeEnded()
        if self.hasCompressor { self.compressors?.giveBack() }
        self.hasCompressor = false
    }
}
