internal import Synchronization
internal import TrackingJournal
internal import TrackingRules

/// Synchronizes a stream's ledger between its reader, which waits for room, the journal, and its
/// writer, which waits for answers.
final class AckQueue: SettlementReceiver {
    private let state: Mutex<State>
    private let wantsAccepted = Atomic(false)
    private let readingIsOver = Atomic(false)
    private let budget: MemoryBudget
    private let onUnanswered: @Sendable ([AdmittedRequest]) -> Void

    fileprivate struct State {
        var ledger: AckLedger
        var reader: Reader?
        var writer: CheckedContinuation<Void, Never>?
        var readingEnd: ReadingEnd?
        var closingCause: ClosingCause?
        var isClosingTold = false
        var isCommitOver = false
        /// Whether the writer has ended, so that nothing may wait for answers.
        var isAbandoned = false
    }

    /// The stream's suspended reader and the condition that it waits for.
    fileprivate struct Reader {
        let continuation: CheckedContinuation<Void, Never>
        let condition: @Sendable (AckLedger) -> Bool
    }

    /// Why the server ends a stream.
    enum ClosingCause {
        /// The server drains, or the connection is being closed.
        case server
        /// The credentials expire.
        case credentials
    }

    /// How the reader ended.
    enum ReadingEnd {
        case byClient
        /// By the server, after the announced grace.
        case closing
        case failed(any Error)
    }

    /// The writer's next action.
    enum Step {
        case answer(AckLedger.Answer)
        case announceClosing(durableSequence: UInt64)
        case finish
    }

    /// - Parameter onUnanswered: called with requests that were settled after the writer had ended.
    init(
        maxRequests: Int, maxBytes: Int, budget: MemoryBudget,
        onUnanswered: @escaping @Sendable ([AdmittedRequest]) -> Void = { _ in }
    ) {
        self.budget = budget
        self.onUnanswered = onUnanswered
        self.state = Mutex(State(ledger: AckLedger(maxRequests: maxRequests, maxBytes: maxBytes)))
    }

    deinit {
        let (bytes, answer) = self.state.withLock { state in
            (state.ledger.heldBytes, state.ledger.takeAnswer())
        }
        if bytes > 0 { self.budget.remove(bytes) }
        if let answer { self.onUnanswered(answer.requests) }
    }

    // MARK: The reader's side

    /// Whether the client wants results for accepted events, according to its first request.
    var reportsAccepted: Bool { self.wantsAccepted.load(ordering: .relaxed) }

    /// Stores that option of the first request.
    func setReportsAccepted(_ value: Bool) { self.wantsAccepted.store(value, ordering: .relaxed) }

    /// Adds requests to the ledger; returns the remaining room.
    @discardableResult
    func begin(_ arrivals: [Arrival]) -> AckLedger.Room {
        let bytes = arrivals.reduce(0) { $0 &+ $1.bytes }
        if bytes > 0 { self.budget.add(bytes) }
        return self.state.withLock { state in
            for arrival in arrivals { state.ledger.begin(arrival) }
            return state.ledger.room
        }
    }

    /// Suspends until there is room for a request; returns the room.
    func waitForRoom() async -> AckLedger.Room {
        await self.wait { $0.hasRoom }
        return self.state.withLock { $0.ledger.room }
    }

    /// Suspends until no request is in flight.
    func waitForIdle() async { await self.wait { $0.isIdle } }

    private func wait(for condition: @escaping @Sendable (AckLedger) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isMet = self.state.withLock { state in
                if state.isAbandoned || condition(state.ledger) { return true }
                state.reader = Reader(continuation: continuation, condition: condition)
                return false
            }
            if isMet { continuation.resume() }
        }
    }

    /// Ends reading: the writer finishes once all requests are answered. The first end counts.
    func endReading(_ end: ReadingEnd) {
        self.readingIsOver.store(true, ordering: .relaxed)
        self.wakeWriter { $0.readingEnd = $0.readingEnd ?? end }
    }

    /// How the reader ended; by the client unless `endReading` was called.
    var readingEnd: ReadingEnd { self.state.withLock { $0.readingEnd } ?? .byClient }

    /// Whether `endReading` was called.
    var isReadingOver: Bool { self.readingIsOver.load(ordering: .relaxed) }

    /// Makes the writer announce that the server ends the stream. The first cause counts.
    func beginClosing(_ cause: ClosingCause = .server) {
        self.wakeWriter { $0.closingCause = $0.closingCause ?? cause }
    }

    /// Why the server ends the stream.
    var closingCause: ClosingCause { self.state.withLock { $0.closingCause } ?? .server }

    // MARK: The journal's side

    func settled(_ requests: [AdmittedRequest]) {
        let reader = self.state.withLock { state in
            for request in requests { state.ledger.settle(request) }
            return state.takeReader()
        }
        reader?.resume()
    }

    func commitEnded() { self.wakeWriter { $0.isCommitOver = true } }

    // MARK: The writer's side

    /// Suspends until the writer has something to do, which `takeStep` returns. A silent stream
    /// waits here, so its memory is mostly this function's frame.
    @inline(never)
    func waitForStep() async {
        await withCheckedContinuation { continuation in
            let isReady = self.state.withLock { state in
                if state.hasStep { return true }
                state.writer = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    /// The writer has ended: nobody is told of the remaining requests.
    func abandon() {
        let reader = self.state.withLock { state in
            state.isAbandoned = true
            return state.takeReader()
        }
        reader?.resume()
    }

    /// The writer's next action, if any. One answer covers everything settled so far.
    func takeStep() -> Step? {
        let (step, reader) = self.state.withLock { state in
            let step = state.takeStep()
            guard case .answer = step else { return (step, CheckedContinuation<Void, Never>?.none) }
            return (step, state.takeReader())
        }
        if case .answer(let answer) = step { self.budget.remove(answer.bytes) }
        reader?.resume()
        return step
    }

    private func wakeWriter(_ change: (inout sending State) -> Void) {
        let writer = self.state.withLock { state in
            change(&state)
            guard state.hasStep else { return CheckedContinuation<Void, Never>?.none }
            defer { state.writer = nil }
            return state.writer
        }
        writer?.resume()
    }
}

extension AckQueue.State {
    fileprivate var hasStep: Bool {
        (self.isCommitOver && self.ledger.hasAnswer)
            || (self.closingCause != nil && !self.isClosingTold)
            || (self.readingEnd != nil && self.ledger.isIdle)
    }

    /// The suspended reader, if its condition holds.
    fileprivate mutating func takeReader() -> CheckedContinuation<Void, Never>? {
        guard let reader = self.reader, self.isAbandoned || reader.condition(self.ledger) else {
            return nil
        }
        self.reader = nil
        return reader.continuation
    }

    fileprivate mutating func takeStep() -> AckQueue.Step? {
        guard self.hasStep else { return nil }
        if let answer = self.ledger.takeAnswer() {
            self.isCommitOver = false
            return .answer(answer)
        }
        if self.closingCause != nil, !self.isClosingTold {
            self.isClosingTold = true
            return .announceClosing(durableSequence: self.ledger.durableSequence)
        }
        return self.readingEnd != nil && self.ledger.isIdle ? .finish : nil
    }
}
