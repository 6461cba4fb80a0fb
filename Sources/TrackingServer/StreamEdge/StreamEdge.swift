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

    private let maxMessageBytes: Int
    private let metadataLimit: MetadataLimit
    private let compressors: CompressorBudget?
    private let onRefusal: @Sendable (ServiceError.Reason) -> Void
    private var hasCompressor = false
    private var inflater: MessageInflater?
    private var hasHead = false
    private var hasAnswerHead = false
    private var hasEnded = false
    private var isReadingData = false

    /// The edge of one stream.
    ///
    /// - Parameters:
    ///   - maxMessageBytes: the library's limit of a message, which errors name.
    ///   - metadataLimit: what calls may have of metadata.
    ///   - compressors: what may be taken of compressors; nil where answers are never compressed.
    ///   - onRefusal: told the reason of each call that ends with an error.
    init(
        maxMessageBytes: Int, metadataLimit: MetadataLimit, compressors: CompressorBudget?,
        onRefusal: @escaping @Sendable (ServiceError.Reason) -> Void = { _ in }
    ) {
        self.onRefusal = onRefusal
        self.maxMessageBytes = maxMessageBytes
        self.metadataLimit = metadataLimit
        self.compressors = compressors
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.hasHead else {
            if self.inflater == nil {
                self.pass(data, context)
            } else {
                self.inflate(data, context)
            }
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
        let refusal =
            self.metadataLimit.refusal(of: frame.headers) ?? CallTimeout.check(&frame.headers)
        if let refusal {
            self.end(refusal, context)
            context.close(promise: nil)
            return
        }
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
        let isEnd = frame.endStream
        frame.endStream = false
        context.fireChannelRead(self.wrapInboundOut(.headers(frame)))
        if isEnd { self.passEnd(context) }
    }

    /// Hands on the end of what a client sends.
    private func passEnd(_ context: ChannelHandlerContext) {
        let end = HTTP2Frame.FramePayload.Data(data: .byteBuffer(ByteBuffer()), endStream: true)
        self.pass(self.wrapInboundOut(.data(end)), context)
    }

    /// Hands a frame on as it is: what a client without compression sends is not looked into.
    private func pass(_ data: NIOAny, _ context: ChannelHandlerContext) {
        self.isReadingData = true
        context.fireChannelRead(data)
        self.isReadingData = false
    }

    /// Hands on the messages of a frame, plain.
    private func inflate(_ data: NIOAny, _ context: ChannelHandlerContext) {
        guard let inflater = self.inflater, !self.hasEnded,
            case .data(let frame) = self.unwrapInboundIn(data),
            case .byteBuffer(let bytes) = frame.data
        else {
            context.fireChannelRead(data)
            return
        }
        inflater.append(bytes)
        do throws(InflateFailure) {
            while let message = try inflater.next() {
                self.pass(self.wrapInboundOut(.data(.init(data: .byteBuffer(message)))), context)
                if self.hasEnded { return }
            }
            guard frame.endStream else { return }
            if inflater.hasRest { throw .malformed }
        } catch {
            self.end(
                error == .tooLarge
                    ? .messageTooLarge(limit: self.maxMessageBytes) : .messageNotInflated,
                context)
            context.close(promise: nil)
            return
        }
        self.passEnd(context)
    }

    /// Ends the call with a status.
    private func end(_ error: ServiceError, _ context: ChannelHandlerContext) {
        self.hasEnded = true
        self.onRefusal(error.reason)
        let trailers = EdgeTrailers.trailers(error, withHead: !self.hasAnswerHead)
        let frame = HTTP2Frame.FramePayload.Headers(headers: trailers, endStream: true)
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
            self.hasEnded = true
            if let reason = EdgeTrailers.addDetails(to: &frame.headers) { self.onRefusal(reason) }
            context.write(self.wrapOutboundOut(.headers(frame)), promise: promise)
            return
        case .rstStream: self.hasEnded = true
        default: break
        }
        context.write(data, promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // While a client's data are being read, the library closes for one reason: a message that
        // it does not take.
        if mode == .all, self.isReadingData, !self.hasEnded {
            self.end(.messageTooLarge(limit: self.maxMessageBytes), context)
        }
        context.close(mode: mode, promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if self.hasCompressor { self.compressors?.giveBack() }
        self.hasCompressor = false
    }
}
