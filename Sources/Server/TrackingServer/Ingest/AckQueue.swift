internal import Pacing
internal import Synchronization
internal import TrackingJournal
internal import TrackingRules

/// Shares a stream's `RequestTracker` between its reader, which waits for room, the journal, which
/// settles requests, and its writer, which waits for answers.
final class AckQueue: SettlementReceiver {
    private let state: Mutex<State>
    /// Raised when the reader's condition is met.
    private let readerMayContinue = Signal()
    /// Raised when the writer has something to do.
    private let hasAction = Signal()
    private let wantsAccepted = Atomic(false)
    private let readingIsOver = Atomic(false)
    private let memory: MemoryShare
    private let onUnanswered: @Sendable ([AdmittedRequest]) -> Void

    fileprivate struct State {
        var tracker: RequestTracker
        /// What the suspended reader waits for.
        var awaited: Condition?
        var readingEnd: ReadingEnd?
        var closingCause: ClosingCause?
        var isClosingAnnounced = false
        var isCommitOver = false
        /// Whether the writer has ended, so that nothing may wait for answers.
        var isAbandoned = false
    }

    /// What a reader waits for: room for another request, or that none is in flight.
    fileprivate enum Condition { case room, idle }

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

    /// What the writer does next.
    enum Action {
        case answer(RequestTracker.Answer)
        case announceClosing(durableSequence: UInt64)
        case finish
    }

    /// - Parameter onUnanswered: called with requests that were settled after the writer had ended.
    init(
        maxRequests: Int, maxBytes: Int, memory: MemoryShare,
        onUnanswered: @escaping @Sendable ([AdmittedRequest]) -> Void = { _ in }
    ) {
        self.memory = memory
        self.onUnanswered = onUnanswered
        self.state = Mutex(
            State(tracker: RequestTracker(maxRequests: maxRequests, maxBytes: maxBytes)))
    }

    deinit {
        let (bytes, answer) = self.state.withLock { state in
            (state.tracker.heldBytes, state.tracker.takeAnswer())
        }
        if bytes > 0 { self.memory.remove(bytes) }
        if let answer { self.onUnanswered(answer.requests) }
    }

    // MARK: The reader's side

    /// Whether the client wants results for accepted events, according to its first request.
    var reportsAccepted: Bool { self.wantsAccepted.load(ordering: .relaxed) }

    /// Stores that option of the first request.
    func setReportsAccepted(_ value: Bool) { self.wantsAccepted.store(value, ordering: .relaxed) }

    /// Tracks requests; returns the remaining room.
    @discardableResult
    func begin(_ arrivals: [Arrival]) -> RequestTracker.Room {
        let bytes = arrivals.reduce(0) { $0 &+ $1.bytes }
        if bytes > 0 { self.memory.add(bytes) }
        return self.state.withLock { state in
            for arrival in arrivals { state.tracker.begin(arrival) }
            return state.tracker.room
        }
    }

    /// Suspends until there is room for a request; returns the room.
    func waitForRoom() async -> RequestTracker.Room {
        await self.wait(for: .room)
        return self.state.withLock { $0.tracker.room }
    }

    /// Suspends until no request is in flight.
    func waitForIdle() async { await self.wait(for: .idle) }

    private func wait(for condition: Condition) async {
        while !self.state.withLock({ $0.isMet(condition) }) { await self.readerMayContinue.wait() }
    }

    /// Ends reading: the writer finishes once all requests are answered. The first end counts.
    func endReading(_ end: ReadingEnd) {
        self.readingIsOver.store(true, ordering: .relaxed)
        self.wakeWriter { $0.readingEnd = $0.readingEnd ?? end }
    }

    /// How the reader ended; by the client unless `endReading` was called.
    var readingEnd: ReadingEnd { self.state.withLock { $0.readingEnd } ?? .byClient }

    /// Whether `endReading` or `abandon` was called.
    var isReadingOver: Bool { self.readingIsOver.load(ordering: .relaxed) }

    /// Makes the writer announce that the server ends the stream. The first cause counts.
    func beginClosing(_ cause: ClosingCause = .server) {
        self.wakeWriter { $0.closingCause = $0.closingCause ?? cause }
    }

    /// Why the server ends the stream.
    var closingCause: ClosingCause { self.state.withLock { $0.closingCause } ?? .server }

    // MARK: The journal's side

    func settled(_ requests: [AdmittedRequest]) {
        let wakesReader = self.state.withLock { state in
            for request in requests { state.tracker.settle(request) }
            return state.wakesReader()
        }
        if wakesReader { self.readerMayContinue.raise() }
    }

    func commitEnded() { self.wakeWriter { $0.isCommitOver = true } }

    // MARK: The writer's side

    /// Suspends after `nextAction` returned nil until it may return an action. A silent stream
    /// waits here, and its memory is mostly the frames of suspended functions: this adds none.
    @inline(__always)
    func waitForAction() async { await self.hasAction.wait() }

    /// Ends the writer's side: the remaining requests are not answered any more. Reading ends too,
    /// since what is settled from now on would be kept until the stream has gone: of a window of
    /// small events that are all refused, a hundred times its bytes.
    func abandon() {
        self.readingIsOver.store(true, ordering: .relaxed)
        let wakesReader = self.state.withLock { state in
            state.isAbandoned = true
            return state.wakesReader()
        }
        if wakesReader { self.readerMayContinue.raise() }
    }

    /// The writer's next action, if any. One answer covers everything settled so far.
    func nextAction() -> Action? {
        let (action, wakesReader) = self.state.withLock { state in
            let action = state.nextAction()
            guard case .answer = action else { return (action, false) }
            return (action, state.wakesReader())
        }
        if case .answer(let answer) = action { self.memory.remove(answer.bytes) }
        if wakesReader { self.readerMayContinue.raise() }
        return action
    }

    private func wakeWriter(_ change: (inout sending State) -> Void) {
        let hasAction = self.state.withLock { state in
            change(&state)
            return state.hasAction
        }
        if hasAction { self.hasAction.raise() }
    }
}

extension AckQueue.State {
    fileprivate var hasAction: Bool {
        (self.isCommitOver && self.tracker.hasAnswer)
            || (self.closingCause != nil && !self.isClosingAnnounced)
            || (self.readingEnd != nil && self.tracker.isIdle)
    }

    /// Whether the reader may continue; if not, notes what it waits for.
    fileprivate mutating func isMet(_ condition: AckQueue.Condition) -> Bool {
        let isMet =
            self.isAbandoned
            || (condition == .room ? self.tracker.hasRoom : self.tracker.isIdle)
        self.awaited = isMet ? nil : condition
        return isMet
    }

    /// Whether a reader waits whose condition is met now.
    fileprivate mutating func wakesReader() -> Bool {
        self.awaited.map { self.isMet($0) } ?? false
    }

    fileprivate mutating func nextAction() -> AckQueue.Action? {
        guard self.hasAction else { return nil }
        if let answer = self.tracker.takeAnswer() {
            self.isCommitOver = false
            return .answer(answer)
        }
        if self.closingCause != nil, !self.isClosingAnnounced {
            self.isClosingAnnounced = true
            return .announceClosing(durableSequence: self.tracker.durableSequence)
        }
        return self.readingEnd != nil && self.tracker.isIdle ? .finish : nil
    }
}
