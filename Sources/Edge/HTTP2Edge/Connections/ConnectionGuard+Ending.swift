internal import NIOCore
internal import NIOSSL

extension ConnectionGuard {
    /// The connection's scheduled tasks, all cancelled when it closes.
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

    /// Counts a stream that was opened.
    func streamOpened(_ stream: any Channel) {
        self.openStreams += 1
        stream.closeFuture.assumeIsolated().whenComplete { _ in
            self.openStreams -= 1
            if self.openStreams == 0 { self.idleSince = stream.eventLoop.now }
        }
    }

    /// Schedules the next idle check. Restarting a timer for each stream would cost more than all
    /// the guard's other work.
    private func checkIdle(after delay: TimeAmount, _ context: ChannelHandlerContext) {
        self.timers.idle = self.schedule(in: delay, context) { context in
            let since = self.openStreams > 0 ? context.eventLoop.now : self.idleSince
            let left = since + self.times.idle - context.eventLoop.now
            guard left <= .zero else { return self.checkIdle(after: left, context) }
            self.end(context, .idle)
        }
    }

    /// Ends the connection gracefully: notifies its streams and grants the peer the grace.
    private func end(_ context: ChannelHandlerContext, _ end: ConnectionEnd) {
        // Another reason may be ending it already.
        guard self.timers.grace == nil else { return }
        self.onEnd(end)
        self.tellStreams(context)
        self.armGrace(context)
    }

    /// Closes the connection of a peer that sends too many PINGs.
    func cutOff(_ context: ChannelHandlerContext) {
        self.isOver = true
        self.timers.cancel()
        if self.outbound.isAtBoundary {
            self.writeOwn(
                HTTP2FrameHeader.enhanceYourCalm(lastStreamID: self.gate.frames.lastStreamID),
                context)
            context.flush()
        }
        // If it closed with unread bytes, the kernel would send RST and the peer lose the GOAWAY.
        self.timers.grace = self.schedule(in: Self.farewell, context) { context in
            self.closeHard(context, .pings)
        }
    }

    /// The transport has sent GOAWAY. Notifies the streams again, because some may have opened
    /// after the first GOAWAY.
    func goAwayWasSent(_ context: ChannelHandlerContext) {
        self.armGrace(context)
        // Deferred, because the transport is inside a write.
        self.timers.telling = self.schedule(in: .zero, context) { context in
            self.tellStreams(context)
        }
    }

    /// Sends this connection the event of a server's shutdown, which the transport passes to each
    /// stream before it ends the connection.
    private func tellStreams(_ context: ChannelHandlerContext) {
        context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }

    private func armGrace(_ context: ChannelHandlerContext) {
        guard self.timers.grace == nil else { return }
        self.timers.grace = self.schedule(in: self.times.grace, context) { context in
            self.closeHard(context, .unanswered)
        }
    }

    /// Closes below TLS, whose close handshake would wait for the peer again.
    private func closeHard(_ context: ChannelHandlerContext, _ end: ConnectionEnd) {
        self.isOver = true
        self.onEnd(end)
        // Without TLS there is no such handler.
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
