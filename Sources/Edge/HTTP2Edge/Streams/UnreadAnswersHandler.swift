internal import NIOCore

/// Ends a stream whose client does not read its answers; otherwise they would wait without end. It
/// watches the channel's writability, so it costs nothing per answer.
final class UnreadAnswersHandler: ChannelInboundHandler {
    typealias InboundIn = Any

    private let timeout: TimeAmount
    private var deadline: Scheduled<Void>?

    /// Creates a handler that ends a stream which is unwritable for `timeout`.
    init(timeout: TimeAmount) { self.timeout = timeout }

    func handlerAdded(context: ChannelHandlerContext) { self.update(context.channel) }

    func handlerRemoved(context: ChannelHandlerContext) { self.stop() }

    func channelInactive(context: ChannelHandlerContext) {
        self.stop()
        context.fireChannelInactive()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.update(context.channel)
        context.fireChannelWritabilityChanged()
    }

    private func update(_ channel: any Channel) {
        if channel.isWritable {
            self.stop()
        } else if self.deadline == nil {
            self.deadline = channel.eventLoop.scheduleTask(in: self.timeout) { Self.end(channel) }
        }
    }

    private func stop() {
        self.deadline?.cancel()
        self.deadline = nil
    }

    /// Closes the connection if it takes no bytes: then an RST_STREAM could not be sent.
    private static func end(_ channel: any Channel) {
        guard let connection = channel.parent, !connection.isWritable else {
            channel.close(promise: nil)
            return
        }
        connection.close(promise: nil)
    }
}
