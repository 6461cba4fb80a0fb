// Ends streams whose client does not read its answers: what is written to them would wait for ever.
internal import NIOCore

/// Stands in a stream's channel and looks at one thing: for how long nothing more could be written.
/// Costs nothing per answer; a channel tells by itself when it is full and when it is not.
final class UnreadAnswersHandler: ChannelInboundHandler {
    typealias InboundIn = Any

    private let timeout: TimeAmount
    private var deadline: Scheduled<Void>?

    /// A handler that ends its stream when nothing could be written for this long.
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

    /// A connection that takes nothing could not even be told that its stream has ended.
    private static func end(_ channel: any Channel) {
        guard let connection = channel.parent, !connection.isWritable else {
            channel.close(promise: nil)
            return
        }
        connection.close(promise: nil)
    }
}
