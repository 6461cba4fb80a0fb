internal import NIOCore
internal import NIOHTTP2

extension StreamEdge {
    /// The inflated bytes passed on in one batch. The reader's queue holds about ten batches.
    private static let batchBytes = 64 << 10
    /// The minimum cost of a message in bytes, since an empty one takes work too.
    private static let leastBytes = 128
    /// The bytes that a stream may inflate before the event loop's other streams get their turn.
    static let turnBytes = 256 << 10
    /// The pause after a turn. An immediate task would run before the loop polls its sockets
    /// (swift-nio 2.101.2, `SelectableEventLoop.runOneLoopTick`).
    static let rest = TimeAmount.microseconds(50)

    /// Handles a frame after the headers.
    func readBody(_ data: NIOAny, _ context: ChannelHandlerContext) {
        guard case .data(let frame) = self.unwrapInboundIn(data),
            case .byteBuffer(let bytes) = frame.data
        else { return self.pass(data, context) }
        if frame.endStream { self.isSent = true }
        guard !self.hasEnded else {
            // A client may send on after its answer; the library would buffer it all.
            if frame.endStream { self.passEnd(context) }
            return
        }
        if let inflater = self.inflater {
            inflater.append(bytes)
            self.endIsDue = frame.endStream
            self.isWanted = true
            self.checkRoom(bytes.readableBytes, context)
            return
        }
        _ = bytes.withUnsafeReadableBytes { self.messages.advance(over: $0) }
        guard !self.messages.hasTooLarge else {
            return self.refuse(.messageTooLarge(maxBytes: self.maxMessageBytes), context)
        }
        guard self.checkRoom(bytes.readableBytes, context) else { return }
        self.pass(data, context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.forward(context)
        self.watch(context)
        context.fireChannelReadComplete()
        if self.hasEnded { context.read() }
    }

    /// The reader has demand: pending messages come first, then the connection.
    func read(context: ChannelHandlerContext) {
        guard self.inflater != nil else { return context.read() }
        self.isWanted = true
        self.forward(context)
        self.readMore(context)
    }

    /// Reads from the connection if no pending message could satisfy the demand.
    private func readMore(_ context: ChannelHandlerContext) {
        if self.isWanted, !self.isForwarding, !self.isResting { context.read() }
    }

    /// Counts buffered bytes; ends the call if they exceed the limit.
    @discardableResult
    private func checkRoom(_ bytes: Int, _ context: ChannelHandlerContext) -> Bool {
        if self.buffered?.add(bytes) ?? true { return true }
        self.refuse(.overloaded, context)
        return false
    }

    // MARK: Inflating

    /// Passes on inflated messages while the reader has demand, which it signals by `read` after
    /// each batch.
    private func forward(_ context: ChannelHandlerContext) {
        guard !self.isForwarding, !self.isResting else { return }
        self.isForwarding = true
        defer { self.isForwarding = false }
        var turnBytes = 0
        while self.isWanted, let inflater = self.inflater,
            let bytes = self.forwardBatch(of: inflater, context)
        {
            self.isWanted = false
            context.fireChannelReadComplete()
            context.channel.read()
            turnBytes &+= bytes
            if turnBytes >= Self.turnBytes { return self.takeRest(context) }
        }
    }

    /// Lets other streams have their turn, then continues.
    private func takeRest(_ context: ChannelHandlerContext) {
        self.isResting = true
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.rest) {
            self.isResting = false
            // The rest of the request is read and dropped.
            guard !self.hasEnded else { return context.read() }
            self.forward(context)
            self.watch(context)
            self.readMore(context)
        }
    }

    /// Passes on a batch of messages, or the half-close after the last one.
    ///
    /// - Returns: the bytes passed on; nil if no message is complete, or the call has ended.
    private func forwardBatch(
        of inflater: MessageInflater, _ context: ChannelHandlerContext
    ) -> Int? {
        var bytes = 0
        do throws(InflateFailure) {
            while bytes < Self.batchBytes, !self.hasEnded, let message = try self.next(inflater) {
                guard self.checkRoom(message.readableBytes, context) else { return nil }
                bytes &+= max(Self.leastBytes, message.readableBytes)
                self.pass(self.wrapInboundOut(.data(.init(data: .byteBuffer(message)))), context)
            }
            guard !self.hasEnded else { return nil }
            guard bytes == 0, self.endIsDue else { return bytes > 0 ? bytes : nil }
            if inflater.hasRest { throw .malformed }
        } catch {
            let isTooLarge = error == .tooLarge
            self.refuse(
                isTooLarge ? .messageTooLarge(maxBytes: self.maxMessageBytes) : .messageNotInflated,
                context)
            return nil
        }
        self.endIsDue = false
        self.passEnd(context)
        return 0
    }

    /// The next inflated message; uncounts its compressed bytes.
    private func next(_ inflater: MessageInflater) throws(InflateFailure) -> ByteBuffer? {
        let pendingBytes = inflater.pendingBytes
        defer { self.buffered?.take(pendingBytes &- inflater.pendingBytes) }
        return try inflater.next()
    }

    // MARK: The time of a message

    /// The number of the message being received, and whether it has begun. Compressed messages that
    /// wait for the reader are complete. Except in a stream of events, the whole request counts as
    /// one message.
    private var current: (number: Int, isUnfinished: Bool) {
        guard self.isStream else { return (0, !self.isSent) }
        guard let inflater = self.inflater else {
            return (self.messages.count, self.messages.unfinishedBytes > 0)
        }
        return (inflater.count, inflater.isStarved)
    }

    /// Tracks how long the current message has been incomplete. A single timer suffices: when it
    /// fires, it is scheduled again for the message that is current then.
    private func watch(_ context: ChannelHandlerContext) {
        let (number, isUnfinished) = self.current
        guard isUnfinished, !self.hasEnded else {
            self.unfinished = nil
            return
        }
        if self.unfinished?.message != number {
            self.unfinished = (number, context.eventLoop.now)
        }
        if self.deadline == nil { self.look(after: TimeAmount(self.limits.timeout), context) }
    }

    private func look(after delay: TimeAmount, _ context: ChannelHandlerContext) {
        self.deadline = context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
            self.deadline = nil
            guard let since = self.unfinished?.since else { return }
            let left = since + TimeAmount(self.limits.timeout) - context.eventLoop.now
            guard left <= .zero else { return self.look(after: left, context) }
            self.refuse(.messageUnfinished(after: self.limits.timeout), context)
        }
    }
}
