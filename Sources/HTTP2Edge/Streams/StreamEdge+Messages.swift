// What a client sends behind the head of its call: followed as it passes, or inflated as it is
// wanted; dropped once the call has ended.
internal import NIOCore
internal import NIOHTTP2

extension StreamEdge {
    /// Inflated bytes that are handed on at once. The reader's own queue holds some ten of these.
    private static let batchBytes = 64 << 10
    /// What a message counts at least, as it is work to hand on an empty one too.
    private static let leastBytes = 128
    /// Bytes that one stream inflates before the event loop's others have their turn.
    static let turnBytes = 256 << 10
    /// How long it rests then. What is due at once would run before the loop looks at its sockets
    /// (swift-nio 2.101.2, `SelectableEventLoop.runOneLoopTick`).
    static let rest = TimeAmount.microseconds(50)

    /// Reads a frame behind the head.
    func readBody(_ data: NIOAny, _ context: ChannelHandlerContext) {
        guard case .data(let frame) = self.unwrapInboundIn(data),
            case .byteBuffer(let bytes) = frame.data
        else { return self.pass(data, context) }
        if frame.endStream { self.isSent = true }
        guard !self.hasEnded else {
            // A client that has its answer may send on: the library would keep it all.
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
        self.handOn(context)
        self.watch(context)
        context.fireChannelReadComplete()
        if self.hasEnded { context.read() }
    }

    /// The reader wants more: what is pending comes before what the stream would read.
    func read(context: ChannelHandlerContext) {
        guard self.inflater != nil else { return context.read() }
        self.isWanted = true
        self.handOn(context)
        self.readMore(context)
    }

    /// Reads from the connection where nothing is pending any more that the reader could have.
    private func readMore(_ context: ChannelHandlerContext) {
        if self.isWanted, !self.isHandingOn, !self.isResting { context.read() }
    }

    /// Counts bytes that wait from now on; ends the call where there is no room for them.
    @discardableResult
    private func checkRoom(_ bytes: Int, _ context: ChannelHandlerContext) -> Bool {
        if self.waiting?.add(bytes) ?? true { return true }
        self.refuse(.overloaded, context)
        return false
    }

    // MARK: Inflating

    /// Hands on inflated messages as long as the reader wants them. It says so by `read`, and is
    /// asked after each batch.
    private func handOn(_ context: ChannelHandlerContext) {
        guard !self.isHandingOn, !self.isResting else { return }
        self.isHandingOn = true
        defer { self.isHandingOn = false }
        var turnBytes = 0
        while self.isWanted, let inflater = self.inflater,
            let bytes = self.handOnBatch(of: inflater, context)
        {
            self.isWanted = false
            context.fireChannelReadComplete()
            context.channel.read()
            turnBytes &+= bytes
            if turnBytes >= Self.turnBytes { return self.takeRest(context) }
        }
    }

    /// Lets others have their turn, and then goes on.
    private func takeRest(_ context: ChannelHandlerContext) {
        self.isResting = true
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.rest) {
            self.isResting = false
            // What is still sent has to be read, and is dropped.
            guard !self.hasEnded else { return context.read() }
            self.handOn(context)
            self.watch(context)
            self.readMore(context)
        }
    }

    /// Hands on some messages, or the end behind the last one.
    ///
    /// - Returns: their bytes; nil where none is whole, or the call has ended.
    private func handOnBatch(
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

    /// The next message, whose bytes no longer wait to be inflated.
    private func next(_ inflater: MessageInflater) throws(InflateFailure) -> ByteBuffer? {
        let pendingBytes = inflater.pendingBytes
        defer { self.waiting?.take(pendingBytes &- inflater.pendingBytes) }
        return try inflater.next()
    }

    // MARK: The time of a message

    /// The message that is coming: its number, and whether any of it is here. Of compressed ones,
    /// those that wait for the reader are whole. What is no stream of events is one message, from
    /// its head to its end.
    private var current: (number: Int, isUnfinished: Bool) {
        guard self.isStream else { return (0, !self.isSent) }
        guard let inflater = self.inflater else {
            return (self.messages.count, self.messages.unfinishedBytes > 0)
        }
        return (inflater.count, inflater.isStarved)
    }

    /// Notes since when a message has been coming. One timer is enough: it looks again when the
    /// time of the message would be over that is coming then.
    private func watch(_ context: ChannelHandlerContext) {
        let (number, isUnfinished) = self.current
        guard isUnfinished, !self.hasEnded else {
            self.unfinished = nil
            return
        }
        if self.unfinished?.message != number {
            self.unfinished = (number, context.eventLoop.now)
        }
        if self.deadline == nil { self.look(after: TimeAmount(self.rules.timeout), context) }
    }

    private func look(after delay: TimeAmount, _ context: ChannelHandlerContext) {
        self.deadline = context.eventLoop.assumeIsolated().scheduleTask(in: delay) {
            self.deadline = nil
            guard let since = self.unfinished?.since else { return }
            let left = since + TimeAmount(self.rules.timeout) - context.eventLoop.now
            guard left <= .zero else { return self.look(after: left, context) }
            self.refuse(.messageUnfinished(after: self.rules.timeout), context)
        }
    }
}
