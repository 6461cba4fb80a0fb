internal import HTTP2Edge
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1

/// The life of a connection with HTTP/1: refuses malformed requests with words, ends a connection
/// that is idle, slow or old, and closes it so that the peer can read the last answer. Behind it
/// requests and answers are those of every version.
///
/// Behind NIO's `HTTPServerPipelineHandler`, which lets one request pass at a time and ends the
/// connection at a shutdown.
final class HTTP1Handler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// How long a peer may read the last answer before the connection closes. If it closed with
    /// unread bytes, the kernel would send RST and the peer lose the answer.
    static let farewell = TimeAmount.seconds(1)

    private enum Phase {
        /// No request, or one whose header fields are not whole.
        case waiting
        /// A request or its answer is under way.
        case busy
        /// The last answer is written: what the peer still sends is dropped.
        case over
    }

    /// When the first request's header fields have to be whole.
    private let deadline: NIODeadline
    private let idleTimeout: TimeAmount
    private let maxAge: TimeAmount
    /// How long a connection of that age may take to end.
    private let grace: TimeAmount
    private let onEnd: (ConnectionEnd) -> Void
    private let count: (DoorTally) -> Void
    private var phase = Phase.waiting
    /// Whether the connection ends with the answer that is under way.
    private var isLast = false
    /// Closes a connection, at `waitingEnd` or earlier. One timer serves many requests: it is set
    /// anew only once it has fired too early.
    private var waiting: (timer: Scheduled<Void>, end: NIODeadline)?
    /// When a connection that waits for a request ends, and why.
    private var waitingEnd = (deadline: NIODeadline.uptimeNanoseconds(0), end: ConnectionEnd.idle)
    /// Ends the connection at its age, and then after the grace.
    private var age: Scheduled<Void>?

    init(
        _ configuration: HTTPConfiguration, deadline: NIODeadline, maxAge: TimeAmount,
        grace: TimeAmount, onEnd: @escaping (ConnectionEnd) -> Void,
        count: @escaping (DoorTally) -> Void
    ) {
        self.deadline = deadline
        self.idleTimeout = TimeAmount(configuration.idleTimeout)
        self.maxAge = maxAge
        self.grace = grace
        self.onEnd = onEnd
        self.count = count
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.wait(until: self.deadline, .handshake, context)
        self.age = context.eventLoop.assumeIsolated().scheduleTask(in: self.maxAge) {
            self.onEnd(.age)
            self.isLast = true
            if self.phase == .waiting { return context.close(promise: nil) }
            // Its request or its answer may take longer than that.
            self.age = context.eventLoop.assumeIsolated().scheduleTask(in: self.grace) {
                self.onEnd(.unanswered)
                context.close(promise: nil)
            }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.cancelTimers() }

    func channelInactive(context: ChannelHandlerContext) {
        self.cancelTimers()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(var head):
            guard self.phase == .waiting else { return }
            // It does not know `100 Continue` (RFC 9110, section 10.1.1).
            if head.version == .http1_0 { head.headers.remove(name: "expect") }
            self.phase = .busy
            if HTTP1HeadRule.isLast(head) { self.isLast = true }
            if let refusal = HTTP1HeadRule.refusal(of: head) {
                return self.refuse(refusal, isHead: head.method == .HEAD, context)
            }
            do {
                context.fireChannelRead(self.wrapInboundOut(.head(try HTTPRequest(head))))
            } catch {
                context.close(promise: nil)
            }
        case .body(let bytes):
            guard self.phase == .busy else { return }
            context.fireChannelRead(self.wrapInboundOut(.body(bytes)))
        case .end:
            guard self.phase == .busy else { return }
            context.fireChannelRead(self.wrapInboundOut(.end(nil)))
        }
    }

    /// What the decoder cannot read ends the connection, as the next request's beginning is
    /// unknown.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard self.phase != .over else { return }
        switch error {
        case let error as HTTPParserError where context.channel.isActive:
            // Its method may be HEAD: nobody knows.
            self.refuse(Self.answer(error), isHead: false, context)
        // Bytes behind those that it could not read, which are answered in their turn.
        case ByteToMessageDecoderError.dataReceivedInErrorState: break
        // A peer that went away in the middle of a request is told nothing.
        default: context.close(promise: nil)
        }
    }

    private static func answer(_ error: HTTPParserError) -> DoorResponse {
        switch error {
        case .headerOverflow:
            .problem(
                .requestHeaderFieldsTooLarge,
                "the header fields exceed http.header_bytes, or are more than "
                    + "\(HTTPConfiguration.headerFields): send fewer")
        default: .problem(.badRequest, "this is no request of HTTP/1.1 (RFC 9112): \(error)")
        }
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard self.phase != .over else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch self.unwrapOutboundIn(data) {
        case .head(let response):
            var head = HTTPResponseHead(response)
            if response.status.code >= 200 {
                if head.headers.contains(name: "connection") { self.isLast = true }
                if self.isLast { head.headers.replaceOrAdd(name: "connection", value: "close") }
            }
            context.write(self.wrapOutboundOut(.head(head)), promise: promise)
        case .body(let bytes):
            context.write(self.wrapOutboundOut(.body(.byteBuffer(bytes))), promise: promise)
        case .end: self.writeEnd(promise, context)
        }
    }

    private func writeEnd(_ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        let data = self.wrapOutboundOut(.end(nil))
        guard self.isLast else {
            // Before the end is written: with it, a request that waited behind this one may begin.
            self.phase = .waiting
            self.wait(until: context.eventLoop.now + self.idleTimeout, .idle, context)
            return context.write(data, promise: promise)
        }
        self.phase = .over
        let sent = promise ?? context.eventLoop.makePromise()
        sent.futureResult.assumeIsolated().whenComplete { _ in self.leave(context) }
        context.write(data, promise: sent)
    }

    /// An answer to HEAD has the length of the body, and not the body: the peer would take that for
    /// another answer.
    private func refuse(_ answer: DoorResponse, isHead: Bool, _ context: ChannelHandlerContext) {
        self.phase = .over
        self.count(
            DoorTally(
                door: .other, status: answer.status.code, receivedBytes: 0,
                sentBytes: isHead ? 0 : answer.body.readableBytes, nanoseconds: 0))
        var headers = HTTPHeaders(answer.headers.map { ($0.name.rawName, $0.value) })
        headers.add(name: "date", value: HTTPDate.text())
        headers.add(name: "content-length", value: "\(answer.body.readableBytes)")
        headers.add(name: "connection", value: "close")
        let head = HTTPResponseHead(
            version: .http1_1, status: .init(statusCode: answer.status.code), headers: headers)
        context.write(self.wrapOutboundOut(.head(head)), promise: nil)
        if !isHead {
            context.write(self.wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil)
        }
        context.writeAndFlush(self.wrapOutboundOut(.end(nil))).assumeIsolated().whenComplete { _ in
            self.leave(context)
        }
        // Also from a peer that does not read.
        self.closeSoon(context)
    }

    /// Half-closes behind the last answer, and closes after the farewell.
    private func leave(_ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        context.close(mode: .output, promise: nil)
        self.closeSoon(context)
    }

    private func closeSoon(_ context: ChannelHandlerContext) {
        self.setTimer(context.eventLoop.now + Self.farewell, context) {
            context.close(promise: nil)
        }
    }

    // MARK: Timers

    /// Ends the connection unless a request's header fields are whole in time.
    private func wait(
        until deadline: NIODeadline, _ end: ConnectionEnd, _ context: ChannelHandlerContext
    ) {
        self.waitingEnd = (deadline, end)
        if let waiting, waiting.end <= deadline { return }
        self.watch(context)
    }

    private func watch(_ context: ChannelHandlerContext) {
        self.setTimer(self.waitingEnd.deadline, context) {
            self.waiting = nil
            // Behind an answer the connection waits again.
            guard self.phase == .waiting else { return }
            guard self.waitingEnd.deadline <= context.eventLoop.now else {
                return self.watch(context)
            }
            self.onEnd(self.waitingEnd.end)
            context.close(promise: nil)
        }
    }

    private func setTimer(
        _ end: NIODeadline, _ context: ChannelHandlerContext, _ body: @escaping () -> Void
    ) {
        self.waiting?.timer.cancel()
        let timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: end, body)
        self.waiting = (timer, end)
    }

    private func cancelTimers() {
        self.waiting?.timer.cancel()
        self.age?.cancel()
    }
}
