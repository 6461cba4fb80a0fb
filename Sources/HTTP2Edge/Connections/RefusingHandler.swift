// Closes a connection as soon as it is one. Closed earlier, it would leave a part of the
// transport's handlers behind: they let go of their timers only when an active connection ends.
internal import NIOCore

/// Stands before all other handlers of a connection that is not taken; sends nothing.
final class RefusingHandler: ChannelDuplexHandler {
    typealias InboundIn = Any
    typealias OutboundIn = Any

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        context.close(promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.ioOnClosedChannel)
    }
}
