// What ends a connection, and when.
internal import NIOCore
internal import NIOSSL

extension ConnectionGuard {
    /// What is still to happen; all of it dies with the connection.
    struct Timers {
        var handshake: Scheduled<Void>?
        var idle: Scheduled<Void>?
        var age: Scheduled<Void>?
        var grace: Scheduled<Void>?
        var telling: Scheduled<Void>?

        func cancel() {
            self.handshake?.cancel()
            self.idle?.cancel()
            self.age?.cancel()
            self.grace?.cancel()
            self.telling?.cancel()
        }
    }

    func startTimers(_ context: ChannelHandlerContext) {
        self.timers.handshake = self.schedule(in: self.times.handshake, context) { context in
            self.closeHard(context, .handshake)
        }
        self.timers.age = self.schedule(in: self.times.age, context) { context in
            self.end(context, .age)
        }
        self.idleSince = context.eventLoop.now
        self.checkIdle(after: self.times.idle, context)
    }

    /// A stream of this connection has been opened.
    func streamOpened(_ stream: any Channel) {
        self.openStreams += 1
        stream.closeFuture.assumeIsolated().whenComplete { _ in
            self.openStreams -= 1
            if self.openStreams == 0 { self.idleSince = stream.eventLoop.now }
        }
    }

    /// Looks again when the connection may have been idle for long enough: a timer of its own for
    /// each stream would cost more than all else here.
    private func checkIdle(after delay: TimeAmount, _ context: ChannelHandlerContext) {
        self.timers.idle = self.schedule(in: delay, context) { context in
            let since = self.openStreams > 0 ? context.eventLoop.now : self.idleSince
            let left = since + self.times.idle - context.eventLoop.now
            guard left <= .zero else { return self.checkIdle(after: left, context) }
            self.end(context, .idle)
        }
    }

    /// Ends the connection in order: its streams are told, and the peer has the grace to go.
    private func end(_ context: ChannelHandlerContext, _ end: ConnectionEnd) {
        // It may be ending already, for another reason.
        guard self.timers.grace == nil else { return }
        self.onEnd(end)
        self.tellStreams(context)
        self.armGrace(context)
    }

    /// Ends the connection of a peer that sends too many PINGs, and of nobody else.
    func cutOff(_ context: ChannelHandlerContext) {
        self.isOver = true
        self.timers.cancel()
        if self.outbound.isAtBoundary {
            self.writeOwn(
                HTTP2FrameHeader.enhanceYourCalm(lastStreamID: self.inbound.lastStreamID), context)
            context.flush()
        }
        // Closed at once, the peer's unread bytes would make its kernel drop the reason.
        self.timers.grace = self.schedule(in: Self.farewell, context) { context in
            self.closeHard(context, .pings)
        }
    }

    /// The transport has begun to end the connection. Streams that it has not told of it are told:
    /// after its first GOAWAY some may still have come.
    func goAwayWasSent(_ context: ChannelHandlerContext) {
        self.armGrace(context)
        // Not now: the transport is in the middle of a write.
        self.timers.telling = self.schedule(in: .zero, context) { context in
            self.tellStreams(context)
        }
    }

    /// The event that a server's shutdown sends to all connections, for this one alone: the
    /// transport hands it to each stream, and begins to end the connection.
    private func tellStreams(_ context: ChannelHandlerContext) {
        context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }

    private func armGrace(_ context: ChannelHandlerContext) {
        guard self.timers.grace == nil else { return }
        self.timers.grace = self.schedule(in: self.times.grace, context) { context in
            self.closeHard(context, .unanswered)
        }
    }

    /// Closes below TLS: a handshake of TLS's own end would wait for the peer once more.
    private func closeHard(_ context: ChannelHandlerContext, _ end: ConnectionEnd) {
        self.isOver = true
        self.onEnd(end)
        // No TLS handler: then there is none to go around.
        let tls = try? context.pipeline.syncOperations.context(
            handlerType: NIOSSLServerHandler.self)
        (tls ?? context).close(mode: .all, promise: nil)
    }

    private func schedule(
        in delay: TimeAmount, _ context: ChannelHandlerContext,
        _ body: @escaping (ChannelHandlerContext) -> Void
    ) -> Scheduled<Void> {
        context.eventLoop.assumeIsolated().scheduleTask(in: delay) { body(context) }
    }
}
