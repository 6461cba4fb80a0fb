internal import NIOCore
internal import NIOHPACK

/// Decides what happens to one call at the edge: its limits, the order in which its messages pass,
/// and its end. Each function takes an event of the call and returns an action, which `StreamEdge`
/// carries out. A value: it does no I/O, takes no lock and starts no timer.
///
/// A call's messages are counted here, once. The count is used for the limit of a message's size,
/// for its time, and by `RequestCoalescer`.
struct CallStateMachine {
    /// What to do with received bytes.
    enum Action: Equatable {
        /// Pass on the held bytes, and then these.
        case pass
        /// The bytes are held: pass on those that are due.
        case passHeld
        /// Pass on the held bytes, and then the client's half-close.
        case passEnd
        /// Give the bytes to the inflater.
        case inflate
        /// Drop the bytes.
        case drop
        case refuse(CallRefusal)
    }

    /// What to do with a call's headers.
    enum HeadAction: Equatable {
        /// Pass them on, and end the call after the timeout.
        case open(timeout: TimeAmount?)
        case refuse(CallRefusal)
    }

    /// How to end a call.
    struct Ending: Equatable {
        /// Whether no headers were sent yet, so that the trailers have to include them.
        var needsHead: Bool
    }

    private enum Phase {
        case idle
        case open
        /// Ended: bytes that the client still sends are dropped.
        case ended
    }

    private var phase = Phase.idle
    private var hasAnswerHead = false
    /// Whether the client has half-closed.
    private var isSent = false
    /// Whether the client may pause between its messages for any time.
    private(set) var isStream = false
    private(set) var maxMessageBytes = MessageLimits.maxBytes
    private var messages = MessageCounter(maxBytes: 0)
    /// Joins the requests of a stream; nil in other calls.
    private var coalescer: RequestCoalescer?
    /// When messages are inflated; nil if they are not compressed.
    private var inflation: InflationTurns?
    private var deadline = MessageDeadline(timeout: .zero)

    /// Whether no headers were received yet.
    var isIdle: Bool { self.phase == .idle }
    var hasEnded: Bool { self.phase == .ended }

    // MARK: Headers

    /// Reads the headers of a call, and removes its timeout.
    mutating func receiveHead(
        _ headers: inout HPACKHeaders, isEnd: Bool, metadataLimit: MetadataLimit,
        limits: MessageLimits
    ) -> HeadAction {
        self.phase = .open
        if let refusal = metadataLimit.refusal(of: headers) { return .refuse(refusal) }
        var timeout: TimeAmount?
        switch CallTimeout.take(from: &headers) {
        case .none: break
        case .after(let time): timeout = time
        case .malformed(let value): return .refuse(.timeout(CallTimeout.shown(value)))
        }
        let path = headers.first(name: ":path")
        self.isSent = isEnd
        self.isStream = path == limits.streamPath
        self.maxMessageBytes = limits.maxBytes(at: path)
        self.deadline = MessageDeadline(timeout: limits.timeout)
        self.messages = MessageCounter(
            maxBytes: LengthPrefixedMessages.prefixBytes + self.maxMessageBytes)
        // Compressed requests are joined after they are inflated. The library refuses those in an
        // encoding that the edge does not inflate.
        self.coalescer = self.isStream ? RequestCoalescer() : nil
        return .open(timeout: timeout)
    }

    /// Records that the call's messages are compressed, and inflated here.
    mutating func beginInflating() { self.inflation = InflationTurns() }

    // MARK: Messages

    /// Receives bytes of the client's messages.
    ///
    /// - Parameter hasRoom: whether they may wait for the call's reader.
    mutating func receive(_ bytes: ByteBuffer, isEnd: Bool, hasRoom: Bool) -> Action {
        if isEnd {
            self.isSent = true
            if self.inflation == nil { self.endBurst() }
        }
        // A client may keep sending after its answer; the library would buffer all of it.
        guard !self.hasEnded else { return isEnd ? .passEnd : .drop }
        if self.inflation != nil {
            self.inflation?.receive(isEnd: isEnd)
            return hasRoom ? .inflate : .refuse(.overloaded)
        }
        let (count, countedBytes) = (self.messages.count, self.messages.bytes)
        let isContinued = !self.messages.isAtStart
        let isFit = bytes.withUnsafeReadableBytes { self.messages.advance(over: $0) }
        guard !self.messages.hasTooLarge else {
            return .refuse(.messageTooLarge(maxBytes: self.maxMessageBytes))
        }
        guard hasRoom else { return .refuse(.overloaded) }
        guard !isEnd else { return .pass }
        return self.hold(
            bytes, messages: self.messages.count &- count,
            bytes: self.messages.bytes &- countedBytes, isContinued: isContinued, isFit: isFit)
    }

    private mutating func hold(
        _ frame: ByteBuffer, messages: Int, bytes: Int, isContinued: Bool, isFit: Bool
    ) -> Action {
        let isHeld =
            self.coalescer?.add(
                frame, messages: messages, bytes: bytes, isContinued: isContinued, isFit: isFit)
            ?? false
        return isHeld ? .passHeld : .pass
    }

    /// The next held bytes to pass on; nil once none are due.
    mutating func nextHeld() -> ByteBuffer? { self.coalescer?.next() }

    /// Makes all held bytes due, because the burst is over or something else follows.
    mutating func endBurst() { self.coalescer?.endBurst() }

    // MARK: Inflating

    /// The reader has demand. Returns whether messages are inflated here: those at hand then pass
    /// before the connection is read.
    mutating func receiveDemand() -> Bool {
        self.inflation?.receiveDemand()
        return self.inflation != nil
    }

    /// Whether the connection must be read.
    var needsBytes: Bool { self.inflation?.needsBytes ?? true }

    /// Begins a turn of inflating; false if there is nothing to inflate now.
    mutating func beginTurn() -> Bool { self.inflation?.begin() ?? false }

    /// The next step of a turn; nil if the turn is over. At a batch's end all held bytes are due.
    mutating func nextStep() -> InflationTurns.Step? {
        let step = self.inflation?.next()
        if case .endBatch = step { self.endBurst() }
        return step
    }

    /// Ends the pause between two turns.
    mutating func endRest() { self.inflation?.endRest() }

    /// A message was inflated.
    mutating func receiveInflated(_ message: ByteBuffer, hasRoom: Bool) -> Action {
        guard hasRoom else { return .refuse(.overloaded) }
        let bytes = message.readableBytes
        self.inflation?.take(bytes)
        return self.hold(
            message, messages: 1, bytes: bytes, isContinued: false,
            isFit: bytes <= RequestCoalescer.maxMessageBytes)
    }

    /// The inflater has no complete message.
    ///
    /// - Parameter hasRest: whether it has bytes of an incomplete one.
    mutating func receiveNoMessage(hasRest: Bool) -> Action {
        guard self.inflation?.starve(hasRest: hasRest) ?? false else { return .drop }
        guard !hasRest else { return .refuse(.messageNotInflated) }
        self.endBurst()
        return .passEnd
    }

    /// A message could not be inflated.
    func refusal(of failure: InflateFailure) -> CallRefusal {
        switch failure {
        case .tooLarge: .messageTooLarge(maxBytes: self.maxMessageBytes)
        case .malformed: .messageNotInflated
        }
    }

    // MARK: The time of a message

    /// The number of the message being received; nil if it has not begun. Except in a stream of
    /// events, the whole request counts as one message.
    private var unfinishedMessage: Int? {
        guard self.phase == .open else { return nil }
        guard self.isStream else { return self.isSent ? nil : 0 }
        if let inflation { return inflation.isStarved ? inflation.count : nil }
        return self.messages.unfinishedBytes > 0 ? self.messages.count : nil
    }

    /// Limits the time of the current message.
    ///
    /// - Returns: the time after which `messageTimerFired` must be called; nil if there is no need.
    mutating func watchMessage(at now: @autoclosure () -> NIODeadline) -> TimeAmount? {
        self.deadline.watch(self.unfinishedMessage, at: now())
    }

    /// The timer for incomplete messages has fired.
    mutating func messageTimerFired(at now: NIODeadline) -> MessageDeadline.Action {
        self.deadline.timerFired(at: now)
    }

    // MARK: Answers and the end

    /// The library sends headers, or the trailers that end the call.
    mutating func sendHeaders(isEnd: Bool) {
        self.hasAnswerHead = true
        if isEnd { _ = self.end() }
    }

    /// Ends the call; returns nil if it had ended.
    mutating func end() -> Ending? {
        guard !self.hasEnded else { return nil }
        self.phase = .ended
        self.inflation = nil
        return Ending(needsHead: !self.hasAnswerHead)
    }
}
