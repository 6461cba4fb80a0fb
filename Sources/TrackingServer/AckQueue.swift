// Between a stream's reader, the journal and the stream's writer.
internal import Synchronization
internal import TrackingCore
internal import TrackingJournal

/// The shell around a stream's ledger: the reader waits in it for room, the writer for answers.
final class AckQueue: SettlementReceiver {
    private let state: Mutex<State>
    private let wantsAccepted = Atomic(false)

    fileprivate struct State {
        var ledger: AckLedger
        var reader: Reader?
        var writer: CheckedContinuation<Void, Never>?
        var isReadingOver = false
        var isClosing = false
        var isClosingTold = false
        var isCommitOver = false
    }

    /// The stream's reader, and what it waits for.
    fileprivate struct Reader {
        let continuation: CheckedContinuation<Void, Never>
        let condition: @Sendable (AckLedger) -> Bool
    }

    /// What the writer has to do next.
    enum Step {
        case answer(AckLedger.Answer)
        case announceClosing(durableSequence: UInt64)
        case finish
    }

    init(maxRequests: Int, maxBytes: Int) {
        self.state = Mutex(State(ledger: AckLedger(maxRequests: maxRequests, maxBytes: maxBytes)))
    }

    // MARK: The reader's side

    /// Whether the client wants results of accepted events too, as its first request said.
    var reportsAccepted: Bool { self.wantsAccepted.load(ordering: .relaxed) }

    /// Keeps what the first request said.
    func setReportsAccepted(_ value: Bool) { self.wantsAccepted.store(value, ordering: .relaxed) }

    /// Takes requests into the ledger; what room is then left.
    @discardableResult
    func begin(_ arrivals: [Arrival]) -> AckLedger.Room {
        self.state.withLock { state in
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
                if condition(state.ledger) { return true }
                state.reader = Reader(continuation: continuation, condition: condition)
                return false
            }
            if isMet { continuation.resume() }
        }
    }

    /// No more requests will come: the writer ends once all are answered.
    func endReading() { self.wakeWriter { $0.isReadingOver = true } }

    /// The server wants to end the stream: the writer says so.
    func beginClosing() { self.wakeWriter { $0.isClosing = true } }

    // MARK: The journal's side

    func settled(_ requests: [AdmittedRequest]) {
        let reader = self.state.withLock { state in
            for request in requests { state.ledger.settle(request) }
            guard let reader = state.reader, reader.condition(state.ledger) else {
                return CheckedContinuation<Void, Never>?.none
            }
            state.reader = nil
            return reader.continuation
        }
        reader?.resume()
    }

    func commitEnded() { self.wakeWriter { $0.isCommitOver = true } }

    // MARK: The writer's side

    /// The writer's next step; waits for it. One answer holds all that was settled meanwhile.
    func nextStep() async -> Step {
        while true {
            if let step = self.state.withLock({ $0.takeStep() }) { return step }
            await withCheckedContinuation { continuation in
                let isReady = self.state.withLock { state in
                    if state.hasStep { return true }
                    state.writer = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
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
        (self.isCommitOver && self.ledger.hasAnswer) || (self.isClosing && !self.isClosingTold)
            || (self.isReadingOver && self.ledger.isIdle)
    }

    fileprivate mutating func takeStep() -> AckQueue.Step? {
        guard self.hasStep else { return nil }
        if let answer = self.ledger.takeAnswer() {
            self.isCommitOver = false
            return .answer(answer)
        }
        if self.isClosing, !self.isClosingTold {
            self.isClosingTold = true
            return .announceClosing(durableSequence: self.ledger.durableSequence)
        }
        return self.isReadingOver && self.ledger.isIdle ? .finish : nil
    }
}
