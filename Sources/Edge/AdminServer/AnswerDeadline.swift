internal import NIOCore
internal import NIOHTTPTypes

/// Closes a connection that completes no answer within the timeout. The timeout restarts with each
/// answer, so it covers idle clients, slow requests and unread answers.
final class AnswerDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How long connections may finish once the server stops.
    private static let stopTimeout = TimeAmount.seconds(1)

    private var timeout: TimeAmount
    private var end: Scheduled<Void>?

    init(_ timeout: Duration) { self.timeout = TimeAmount(timeout) }

    func handlerAdded(context: ChannelHandlerContext) { self.begin(context.channel) }

    func handlerRemoved(context: ChannelHandlerContext) { self.end?.cancel() }

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        guard case .end = self.unwrapOutboundIn(data) else {
            context.write(data, promise: promise)
            return
        }
        let channel = context.channel
        let sent = promise ?? context.eventLoop.makePromise()
        sent.futureResult.assumeIsolated().whenSuccess { self.begin(channel) }
        context.write(data, promise: sent)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            self.timeout = Self.stopTimeout
            self.begin(context.channel)
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func begin(_ channel: any Channel) {
        self.end?.cancel()
        self.end = channel.eventLoop.scheduleTask(in: self.timeout) {
            channel.close(promise: nil)
        }
    }
}
