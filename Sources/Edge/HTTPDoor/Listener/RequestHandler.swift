internal import HTTP2Edge
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP2
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP2
internal import Pacing

/// Reads requests whole, within their limits, and writes the answers of the doors: for a connection
/// with HTTP/1 one after another, for a stream of HTTP/2 its one request.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private enum Phase {
        /// For the header fields of a request.
        case waiting
        /// For the rest of a request.
        case reading
        /// For the door's answer.
        case answering
        /// The answer is written, or nobody is there for it.
        case over
    }

    private let port: DoorPort
    private let connection: DoorConnection
    /// Whether it is a stream of HTTP/2.
    private let isStream: Bool
    private var phase = Phase.waiting
    private var request: DoorRequest?
    /// Who answers it.
    private var choice: DoorSwitch.Choice?
    /// The bytes of the request that wait.
    private var buffered: BufferedCall?
    private var start = NIODeadline.uptimeNanoseconds(0)
    private var bodyTimer: Scheduled<Void>?
    /// The answer that is being written, or was last.
    private var sending: Sending?
    /// The door's work. Its owner is this handler: with the connection or the stream it ends.
    private var work: Task<Void, Never>?

    init(_ port: DoorPort, _ connection: DoorConnection, isStream: Bool) {
        self.port = port
        self.connection = connection
        self.isStream = isStream
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.leave() }

    func channelInactive(context: ChannelHandlerContext) {
        self.leave()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            if self.phase == .waiting { self.begin(head, context) }
        case .body(let bytes):
            if self.phase == .reading { self.append(bytes, context) }
        case .end:
            if self.phase == .reading { self.answer(context) }
        }
    }

    /// A message that the codec cannot read.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard self.phase != .over else { return }
        // A stream that ends before nio-http2 has told of it counts as open from then on
        // (grpc-swift-nio-transport 2.9.2, whose assertion finds it): its connection is never idle.
        let own = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.execute { own.value.close(promise: nil) }
    }

    // MARK: Requests

    /// What the peer had sent is read. Most bodies are whole by then, and need no timer.
    func channelReadComplete(context: ChannelHandlerContext) {
        if self.phase == .reading, self.bodyTimer == nil { self.awaitBody(context) }
        context.fireChannelReadComplete()
    }

    private func begin(_ head: HTTPRequest, _ context: ChannelHandlerContext) {
        self.phase = .reading
        self.start = context.eventLoop.now
        let buffered = self.port.limits.buffered.open(on: self.connection.shares)
        self.buffered = buffered
        let request = DoorRequest(
            head,
            peer: DoorPeer(
                address: self.connection.address, certificate: self.connection.certificate,
                shares: self.connection.shares, callMetadata: buffered.metadata))
        self.request = request
        guard Self.isFit(head) else { return self.refuse(Self.otherText, context) }
        self.choice = self.port.doors.choice(for: request)
        if let refusal = self.refusal(of: head) {
            return self.refuse(refusal, context)
        }
        if head.headerFields.value(.expect)?.lowercased() == "100-continue" {
            context.writeAndFlush(
                self.wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }
    }

    private func awaitBody(_ context: ChannelHandlerContext) {
        self.bodyTimer = context.eventLoop.assumeIsolated().scheduleTask(
            deadline: self.start + TimeAmount(self.port.configuration.bodyTimeout)
        ) {
            self.refuse(
                .problem(
                    .requestTimeout,
                    "the body was incomplete after \(self.port.configuration.bodyTimeout.seconds) "
                        + "s: send less at once, or use a faster connection"), context)
        }
    }

    private func refusal(of head: HTTPRequest) -> DoorResponse? {
        let fields = head.headerFields
        let bytes = fields.reduce(0) { $0 &+ $1.name.rawName.utf8.count &+ $1.value.utf8.count }
        let maxBytes = self.port.configuration.headerBytes
        guard bytes <= maxBytes, fields.count <= HTTPConfiguration.headerFields else {
            return .problem(
                .requestHeaderFieldsTooLarge,
                "\(fields.count) header fields have \(bytes) bytes of names and values, the limits "
                    + "are \(HTTPConfiguration.headerFields) and \(maxBytes): send fewer")
        }
        // Of HTTP/1 `HTTP1HeadRule` has looked at it.
        if self.isStream, !HostRule.isOfOneHost(head) { return HostRule.refusal }
        let length = fields.value(.contentLength).flatMap { Int($0) } ?? 0
        return length > HTTPConfiguration.bodyBytes ? Self.tooLarge : nil
    }

    /// Whether the doors may compare what is in a head: see `HeaderText`.
    private static func isFit(_ head: HTTPRequest) -> Bool {
        HeaderText.isFit(head.method.rawValue) && HeaderText.isFit(head.path ?? "")
            && HeaderText.isFit(head.authority ?? "")
            && head.headerFields.allSatisfy { HeaderText.isFit($0.value) }
    }

    private static let otherText = DoorResponse.problem(
        .requestHeaderFieldsTooLarge,
        "the path and each header field may have at most \(HeaderText.maxOtherBytes) bytes that "
            + "are not ASCII: percent-encode the path, and send less of other text")
    private static let tooLarge = DoorResponse.problem(
        .contentTooLarge,
        "a body may have at most \(HTTPConfiguration.bodyBytes) bytes, also once decompressed: "
            + "send it in parts")
    private static let overloaded = DoorResponse.problem(
        .serviceUnavailable, "the server is overloaded: send it again later", retryAfter: 1)

    private func append(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        let length = (self.request?.body.readableBytes ?? 0) + bytes.readableBytes
        guard length <= HTTPConfiguration.bodyBytes else {
            return self.refuse(Self.tooLarge, context)
        }
        guard self.buffered?.add(bytes.readableBytes) ?? true else {
            return self.refuse(Self.overloaded, context)
        }
        // A body in one part is not copied.
        if length == bytes.readableBytes {
            self.request?.body = bytes
        } else {
            self.request?.body.writeImmutableBuffer(bytes)
        }
    }

    // MARK: Answers

    private func answer(_ context: ChannelHandlerContext) {
        guard let request = self.request, let choice = self.choice else { return }
        self.phase = .answering
        self.bodyTimer?.cancel()
        let loop = context.eventLoop
        let own = NIOLoopBound((self, context), eventLoop: loop)
        self.work = Task {
            // Its client went away while it waited for a thread.
            if Task.isCancelled { return }
            let response = await choice.answer(request)
            loop.execute {
                let (handler, context) = own.value
                if handler.phase == .answering { handler.write(response, context) }
            }
        }
    }

    /// Answers a request that is not whole, and ends its stream, or its connection with HTTP/1.
    private func refuse(_ response: DoorResponse, _ context: ChannelHandlerContext) {
        guard self.phase == .reading else { return }
        self.bodyTimer?.cancel()
        self.write(response, context, isWhole: false)
    }

    private func write(
        _ response: DoorResponse, _ context: ChannelHandlerContext, isWhole: Bool = true
    ) {
        var (response, release) = self.held(response)
        if let request = self.request { self.choice?.allow(&response, for: request) }
        let isHead = self.request?.method == .head
        let sendsBody = !isHead && response.body.readableBytes > 0
        let tally = DoorTally(
            door: self.choice?.door ?? .other,
            status: response.status.code,
            receivedBytes: self.request?.body.readableBytes ?? 0,
            sentBytes: sendsBody ? response.body.readableBytes : 0,
            nanoseconds: (context.eventLoop.now - self.start).nanoseconds)
        let head = self.head(of: response, isHead: isHead, isWhole: isWhole)
        self.finishRequest()
        let written = context.eventLoop.makePromise(of: Void.self)
        let sending = Sending()
        self.sending = sending
        written.futureResult.assumeIsolated().whenComplete { _ in
            release()
            sending.end()
        }
        // Most answers are taken at once, and need no timer.
        defer { if !sending.isOver { self.watch(sending, context) } }
        self.port.count(tally)
        let phase = self.isStream || !isWhole ? Phase.over : .waiting
        // A request that waited behind this one begins once the peer has taken the answer, or those
        // of a peer that reads none would pile up: NIO lets the next one pass with the end of this
        // answer, whether the channel takes more bytes or not (swift-nio 2.101.2).
        let isLarge = sendsBody && response.body.readableBytes > BufferedCall.freeBytes
        let hasToBeTaken = phase == .waiting && (isLarge || !context.channel.isWritable)
        let taken = hasToBeTaken ? context.eventLoop.makePromise(of: Void.self) : nil
        taken?.futureResult.assumeIsolated().whenComplete { _ in
            self.writeEnd(phase, written, context)
        }
        context.write(self.wrapOutboundOut(.head(head)), promise: sendsBody ? nil : taken)
        if sendsBody { context.write(self.wrapOutboundOut(.body(response.body)), promise: taken) }
        guard taken == nil else { return context.flush() }
        self.writeEnd(phase, written, context)
        guard self.isStream, !isWhole else { return }
        // Lets a client that still sends stop, and use the answer (RFC 9113, section 8.1).
        context.triggerUserOutboundEvent(
            NIOHTTP2FramePayloadToHTTPEvent.reset(code: .noError), promise: nil)
        context.close(promise: nil)
    }

    private func writeEnd(
        _ phase: Phase, _ written: EventLoopPromise<Void>, _ context: ChannelHandlerContext
    ) {
        // Before the end is written: with it, a request that waited behind this one may begin.
        if self.phase != .over { self.phase = phase }
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: written)
    }

    /// Counts a large answer until it is written, as the gRPC port does.
    ///
    /// - Returns: the answer, or another if there is no room for it; and what uncounts it.
    private func held(_ response: DoorResponse) -> (DoorResponse, @Sendable () -> Void) {
        let bytes = response.body.storageCapacity
        guard response.body.readableBytes > BufferedCall.freeBytes, let buffered = self.buffered
        else { return (response, {}) }
        guard let share = buffered.hold(answer: bytes) else { return (Self.overloaded, {}) }
        return (response, { share.remove(bytes) })
    }

    private func head(
        of response: DoorResponse, isHead: Bool, isWhole: Bool
    ) -> HTTPResponse {
        var head = HTTPResponse(status: response.status, headerFields: response.headers)
        let hasBody = response.status != .noContent && response.status != .notModified
        // An answer to HEAD that was passed on has no body, and the length of the one left out.
        let hasLength = isHead && head.headerFields.contains(.contentLength)
        if hasBody, !hasLength {
            head.headerFields[.contentLength] = "\(response.body.readableBytes)"
        }
        if !head.headerFields.contains(.date) { head.headerFields[.date] = HTTPDate.text() }
        if !response.isPassedOn {
            head.headerFields[.xContentTypeOptions] = "nosniff"
            if !head.headerFields.contains(.cacheControl) {
                head.headerFields[.cacheControl] = "no-store"
            }
        }
        if !self.isStream, !isWhole { head.headerFields[.connection] = "close" }
        guard self.isStream else { return head }
        // The peer chooses the size of HPACK's table, up to 4 GiB: see `HPACKHeaders.unindexed`.
        head.headerFields = HTTPFields(
            head.headerFields.map { field in
                var field = field
                field.indexingStrategy = .avoid
                return field
            })
        return head
    }

    /// Ends the connection of a peer that does not read its answer in time, or the stream if the
    /// connection takes bytes.
    private func watch(_ sending: Sending, _ context: ChannelHandlerContext) {
        let (channel, onEnd) = (context.channel, self.port.onEnd)
        // The parent of a connection is the listener.
        let connection = self.isStream ? channel.parent ?? channel : channel
        sending.timer = context.eventLoop.scheduleTask(
            in: TimeAmount(self.port.configuration.answerTimeout)
        ) {
            onEnd(.unread)
            (connection.isWritable ? channel : connection).close(promise: nil)
        }
    }

    /// Forgets a request that has its answer.
    private func finishRequest() {
        self.bodyTimer = nil
        self.request = nil
        self.choice = nil
        self.work = nil
        self.buffered?.close()
        self.buffered = nil
    }

    /// Ends what is under way: the peer has gone.
    private func leave() {
        if let request = self.request, self.phase == .reading || self.phase == .answering {
            self.port.count(
                DoorTally(
                    door: self.choice?.door ?? .other, status: nil,
                    receivedBytes: request.body.readableBytes, sentBytes: 0,
                    nanoseconds: (NIODeadline.now() - self.start).nanoseconds))
        }
        self.phase = .over
        self.bodyTimer?.cancel()
        self.sending?.end()
        self.work?.cancel()
        self.finishRequest()
    }
}

/// An answer on its way to the peer.
private final class Sending {
    private(set) var isOver = false
    /// Ends a peer that takes too long to read it.
    var timer: Scheduled<Void>?

    /// Notes that it is written, or that nobody is there for it.
    func end() {
        self.isOver = true
        self.timer?.cancel()
    }
}

extension Duration {
    /// Whole seconds.
    fileprivate var seconds: Int64 { self.components.seconds }
}
