// Ends streams whose client does not read its answers: what is written to them would wait for ever.
internal import GRPCNIOTransportHTTP2Posix
internal import NIOCore

/// Stands in a stream's channel and looks at one thing: for how long nothing more could be written.
/// Costs nothing per answer; a channel tells by itself when it is full and when it is not.
final class UnreadAnswersHandler: ChannelInboundHandler {
    typealias InboundIn = Any

    private let timeout: TimeAmount
    private var deadline: Scheduled<Void>?

    /// A handler that ends its stream when nothing could be written for this long.
    init(timeout: TimeAmount) { self.timeout = timeout }

    /// Puts one into a stream's channel, on its event loop.
    static func add(to channel: any Channel, timeout: TimeAmount) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(
                UnreadAnswersHandler(timeout: timeout), position: .first)
        }
    }

    /// Puts one into each stream's channel; keeps what others do as a stream is accepted.
    static func install(in config: inout HTTP2ServerTransport.Posix.Config, _ timeout: Duration) {
        let timeout = TimeAmount(timeout)
        let earlier = config.channelDebuggingCallbacks.onAcceptHTTP2Stream
        config.channelDebuggingCallbacks.onAcceptHTTP2Stream = { channel in
            let added = Self.add(to: channel, timeout: timeout)
            guard let earlier else { return added }
            return added.flatMap { earlier(channel) }
        }
    }

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
