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
        /// A message was refused: the library got the requests before it and a half-close. The call
        /// ends with the refusal once they are answered; bytes behind the message are dropped.
        case refused
        /// Ended: bytes that the client still sends are dropped.
        case ended
    }

    private var phase = Phase.idle
    /// Why a message was refused behind others; nil if none was.
    private var refusal: CallRefusal?
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
    /// Whether the call ends with a refusal once the requests before it are answered.
    var isRefused: Bool { self.phase == .refused }
    var hasEnded: Bool { self.phase == .ended }

    // MARK: Headers

    /// Reads the headers of a call, removes its timeout, and normalizes its content type.
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
        ContentType.normalize(&headers)
        let path = headers.first(name: ":path")
        self.isSent = isEnd
        self.isStream = path == limits.streamPath
        self.maxMessageBytes = limits.maxBytes(at: path)
        self.deadline = MessageDeadline(timeout: limits.timeout)
        self.messages = MessageCounter(
            maxBytes: LengthPrefixedMessages.prefixBytes + self.maxMessageBytes)
        // Compressed requests are joined after they are inflated.
        self.coalescer = self.isStream ? RequestCoalescer() : nil
        return .open(timeout: timeout)
    }

    /// Records that the call's messages are compressed, and inflated here.
    mutating func beginInflating() { self.inflation = InflationTurns() }

    // MARK: Messages

    /// Receives bytes of the client's messages.
    ///
    /// - Parameters:
    ///   - isEnd: whether the client half-closes with them. Its trailers, if it sends any, are a
    ///     half-close without bytes.
    ///   - hasRoom: whether they may wait for the call's reader.
    mutating func receive(_ bytes: ByteBuffer, isEnd: Bool, hasRoom: Bool) -> Action {
        if isEnd {
            self.isSent = true
            if self.inflation == nil { self.endBurst() }
        }
        // A client may keep sending after its answer; the library would buffer all of it. In a call
        // with a refused message it has its half-close.
        guard !self.isRefused, !self.hasEnded else {
            return isEnd && self.refusal == nil ? .passEnd : .drop
        }
        if self.inflation != nil {
            self.inflation?.receive(isEnd: isEnd)
            return hasRoom ? .inflate : .refuse(.overloaded)
        }
        let (count, countedBytes) = (self.messages.count, self.messages.bytes)
        let isContinued = !self.messages.isAtStart
        let isFit = bytes.withUnsafeReadableBytes { self.messages.advance(over: $0) }
        if let defect = self.messages.defect {
            return self.refuse(defect, in: bytes, hasRoom: hasRoom)
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

    private mutating func refuse(
        _ defect: MessageCounter.Defect, in frame: ByteBuffer, hasRoom: Bool
    ) -> Action {
        let refusal: CallRefusal =
            switch defect {
            case .flag(let flag): .messageFlag(flag)
            case .tooLarge: .messageTooLarge(maxBytes: self.maxMessageBytes)
            }
        // Without room, the requests before it may not wait for their reader either.
        guard hasRoom else { return .refuse(refusal) }
        let action = self.refuse(refusal, after: self.messages.count)
        let count = self.messages.bytesBeforeDefect
        if self.isRefused, count > 0,
            let requests = frame.getSlice(at: frame.readerIndex, length: count)
        {
            self.coalescer?.addLast(requests)
        }
        return action
    }

    /// Refuses a message behind `count` others. A stream has answered none, some or all of these:
    /// the library passes them on and ends the stream, as at a half-close, and the refusal replaces
    /// the success with which it ends. Another call is refused at once: it has a single answer.
    private mutating func refuse(_ refusal: CallRefusal, after count: Int) -> Action {
        guard self.isStream, count > 0 else { return .refuse(refusal) }
        self.phase = .refused
        self.refusal = refusal
        self.inflation = nil
        self.endBurst()
        return .passEnd
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
        guard !hasRest else { return self.refuse(.malformed) }
        self.endBurst()
        return .passEnd
    }

    /// A message could not be inflated.
    mutating func refuse(_ failure: InflateFailure) -> Action {
        let refusal: CallRefusal =
            switch failure {
            case .tooLarge: .messageTooLarge(maxBytes: self.maxMessageBytes)
            case .flag(let flag): .messageFlag(flag)
            case .malformed: .messageNotInflated
            }
        return self.refuse(refusal, after: self.inflation?.count ?? 0)
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
        self.phase == .open ? self.deadline.timerFired(at: now) : .nothing
    }

    // MARK: Answers and the end

    /// The library sends the headers of its answer.
    mutating func sendHead() { self.hasAnswerHead = true }

    /// The library sends the trailers that end the call.
    ///
    /// - Parameter isSuccess: whether their status is OK.
    /// - Returns: the refusal that takes their place; nil if there is none, or if they have an
    ///   error of a request before the refused message.
    mutating func sendTrailers(isSuccess: Bool) -> CallRefusal? {
        let refusal = self.isRefused && isSuccess ? self.refusal : nil
        _ = self.end()
        return refusal
    }

    /// Why the library closes the stream; nil if the call has not begun or has ended.
    ///
    /// - Parameter isReading: whether it closes while it handles the client's data. What it cannot
    ///   read is refused here before, so it has failed. At other moments it closes if the call's
    ///   task was cancelled, because the server stops (grpc-swift-nio-transport 2.9.2,
    ///   `CustomTransport.handleStream`).
    func closeCause(isReading: Bool) -> CallRefusal? {
        switch self.phase {
        case .idle, .ended: nil
        case .open: isReading ? .internalFailure : .closing
        case .refused: self.refusal
        }
    }

    /// Ends the call; returns nil if it had ended.
    mutating func end() -> Ending? {
        guard !self.hasEnded else { return nil }
        self.phase = .ended
        self.inflation = nil
        return Ending(needsHead: !self.hasAnswerHead)
    }
}
