// Between a stream's reader, the journal and the stream's writer.
internal import Synchronization
internal import TrackingCore
internal import TrackingJournal

/// The shell around a stream's ledger: the reader waits in it for room, the writer for answers.
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
        /// Whether nobody takes answers any longer: then nobody may wait for that.
        var isAbandoned = false
    }

    /// The stream's reader, and what it waits for.
    fileprivate struct Reader {
        let continuation: CheckedContinuation<Void, Never>
        let condition: @Sendable (AckLedger) -> Bool
    }

    /// Why a stream is ended by the server.
    enum ClosingCause {
        /// It drains, or has its connection closed.
        case server
        /// The caller's credentials expire.
        case credentials
    }

    /// How reading ended.
    enum ReadingEnd {
        case byClient
        /// By the server, once the time that it had announced was over.
        case closing
        case failed(any Error)
    }

    /// What the writer has to do next.
    enum Step {
        case answer(AckLedger.Answer)
        case announceClosing(durableSequence: UInt64)
        case finish
    }

    /// - Parameter onUnanswered: told of the requests that were settled when nobody took answers
    ///   any longer.
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

    /// Whether the client wants results of accepted events too, as its first request said.
    var reportsAccepted: Bool { self.wantsAccepted.load(ordering: .relaxed) }

    /// Keeps what the first request said.
    func setReportsAccepted(_ value: Bool) { self.wantsAccepted.store(value, ordering: .relaxed) }

    /// Takes requests into the ledger; what room is then left.
    @discardableResult
    func begin(_ arrivals: [Arrival]) -> AckLedger.Room {
        let bytes = arrivals.reduce(0) { $0 &+ $1.bytes }
        if bytes > 0 { self.budget.add(bytes) }
        return self.state.withLock { state in
            for arrival in arrivals { state.ledger.begin(arrival) }
            return state.ledger.room
        }
    }

    /// Waits until there is room for one more request; what room there is.
    func waitForRoom() async -> AckLedger.Room {
        await self.wait { $0.hasRoom }
        return self.state.withLock { $0.ledger.room }
    }

    /// Waits until nothing is under way.
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

    /// No more requests will come: the writer ends once all are answered. The first end stays.
    func endReading(_ end: ReadingEnd) {
        self.readingIsOver.store(true, ordering: .relaxed)
        self.wakeWriter { $0.readingEnd = $0.readingEnd ?? end }
    }

    /// How reading ended; by the client, where it has not.
    var readingEnd: ReadingEnd { self.state.withLock { $0.readingEnd } ?? .byClient }

    /// Whether nothing more is to be read, as `endReading` said.
    var isReadingOver: Bool { self.readingIsOver.load(ordering: .relaxed) }

    /// The server wants to end the stream: the writer says so. The first cause stays.
    func beginClosing(_ cause: ClosingCause = .server) {
        self.wakeWriter { $0.closingCause = $0.closingCause ?? cause }
    }

    /// Why the server ends the stream, where it does.
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

    /// Waits until the writer has something to do. What that is, `takeStep` says: a silent stream
    /// waits here, and keeps what this function keeps.
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

    /// The writer has ended, with an error or without: what is left is told to nobody.
    func abandon() {
        let reader = self.state.withLock { state in
            state.isAbandoned = true
            return state.takeReader()
        }
        reader?.resume()
    }

    /// What the writer has to do now, if anything. One answer holds all that was settled meanwhile.
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

    /// The reader, where what it waits for has come.
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
