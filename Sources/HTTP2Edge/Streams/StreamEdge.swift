// The outermost handler of each HTTP/2 stream, in front of the gRPC library's own. It decides how
// answers are compressed, and sees to it that a call that the library cuts off or ends by itself
// still says why: for a message over its limit the library only resets the stream, and clients
// read that as CANCELLED and try again.
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// Rewrites the head of a call, and its end where the library wrote that; passes all else on.
final class StreamEdge: ChannelDuplexHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    let rules: MessageRules
    private let metadataLimit: MetadataLimit
    private let compressors: CompressorBudget?
    private let ending: CallEnding
    private var hasCompressor = false
    private var hasHead = false
    private var hasAnswerHead = false
    private var isReadingData = false
    /// Nothing of the client is of use any more.
    private(set) var hasEnded = false
    private(set) var maxMessageBytes = MessageRules.maxBytes
    private(set) var inflater: MessageInflater?
    /// Follows messages that come plain.
    var messages = MessageCounter(maxBytes: 0)
    /// What of this call waits for its reader.
    private(set) var waiting: WaitingCall?
    /// Since when the message has been coming that is not whole yet, and which one it is.
    var unfinished: (message: Int, since: NIODeadline)?
    var deadline: Scheduled<Void>?
    /// Ends the call when its client no longer waits.
    private var callEnd: Scheduled<Void>?
    /// Whether the client has ended its side, and whether the library is yet to be told.
    var isSent = false
    var endIsDue = false
    /// Whether a client may take as long as it likes between its messages.
    private(set) var isStream = false
    /// Whether the reader wants inflated messages, and they are being handed on.
    var isWanted = false
    var isHandingOn = false
    /// Whether the event loop's other streams have their turn.
    var isResting = false

    /// The edge of one stream.
    ///
    /// - Parameters:
    ///   - rules: what its messages may be.
    ///   - metadataLimit: what calls may have of metadata.
    ///   - compressors: what may be taken of compressors; nil where answers are never compressed.
    ///   - ending: what its client reads as it ends.
    init(
        rules: MessageRules, metadataLimit: MetadataLimit, compressors: CompressorBudget?,
        ending: CallEnding
    ) {
        self.ending = ending
        self.rules = rules
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
        self.isStream = path == self.rules.streamPath
        self.maxMessageBytes = self.rules.maxBytes(at: path)
        self.waiting = self.rules.waiting.open(&frame.headers, isStream: self.isStream)
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
        // The library does not see a stream's end in its head (grpc-swift-nio-transport 2.9.2):
        // the call would wait for its requests for ever.
        self.isSent = frame.endStream
        frame.endStream = false
        context.fireChannelRead(self.wrapInboundOut(.headers(frame)))
        if self.isSent { self.passEnd(context) }
    }

    /// Ends the call when the time that its client gives it is over.
    private func endCall(after time: TimeAmount, _ context: ChannelHandlerContext) {
        self.callEnd = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            self.callEnd = nil
            self.refuse(.deadlinePassed, context)
        }
    }

    /// Hands on the end of what a client sends.
    func passEnd(_ context: ChannelHandlerContext) {
        let end = HTTP2Frame.FramePayload.Data(data: .byteBuffer(ByteBuffer()), endStream: true)
        self.pass(self.wrapInboundOut(.data(end)), context)
    }

    /// Hands a frame on.
    func pass(_ data: NIOAny, _ context: ChannelHandlerContext) {
        self.isReadingData = true
        context.fireChannelRead(data)
        self.isReadingData = false
    }

    /// Ends the call with a status, and its stream.
    func refuse(_ refusal: CallRefusal, _ context: ChannelHandlerContext) {
        guard !self.hasEnded else { return }
        self.end(refusal, context)
        context.close(promise: nil)
    }

    /// Ends the call with a status.
    private func end(_ refusal: CallRefusal, _ context: ChannelHandlerContext) {
        self.becomeEnded()
        var headers: HPACKHeaders =
            self.hasAnswerHead ? [:] : [":status": "200", "content-type": "application/grpc"]
        headers.add(contentsOf: self.ending.trailers(refusal))
        let frame = HTTP2Frame.FramePayload.Headers(headers: headers, endStream: true)
        context.write(self.wrapOutboundOut(.headers(frame)), promise: nil)
        // A client that is still sending may stop, and believe the status (RFC 9113, 8.1): the
        // CANCEL of a plain close would take its place.
        context.writeAndFlush(self.wrapOutboundOut(.rstStream(.noError)), promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch self.unwrapOutboundIn(data) {
        case .headers(var frame):
            self.hasAnswerHead = true
            guard frame.endStream else { break }
            self.becomeEnded()
            self.ending.complete(&frame.headers)
            context.write(self.wrapOutboundOut(.headers(frame)), promise: promise)
            // The library may have stopped reading.
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
        // While a client's data are being read, the library closes for one reason: a message that
        // it does not take.
        if mode == .all, self.isReadingData, !self.hasEnded {
            self.end(.messageTooLarge(maxBytes: self.maxMessageBytes), context)
        }
        context.close(mode: mode, promise: promise)
    }

    /// Lets go of all that has come of the client's messages.
    private func becomeEnded() {
        self.hasEnded = true
        self.inflater = nil
        self.deadline?.cancel()
        self.deadline = nil
        self.callEnd?.cancel()
        self.callEnd = nil
        self.waiting?.close()
        self.waiting = nil
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.becomeEnded()
        if self.hasCompressor { self.compressors?.giveBack() }
        self.hasCompressor = false
    }
}
