internal import NIOCore

/// Closes a refused connection once it is active, before any other handler. If it closed earlier,
/// some of the transport's handlers would leak, because they release their timers only when an
/// active connection ends.
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
