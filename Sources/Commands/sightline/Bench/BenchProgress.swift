internal import SightlineClient
internal import Synchronization
package import TrackingRules

/// The contents of one answer.
package struct BenchAnswer: Sendable {
    /// The latency of each settled request, from when it was sent, or due in an open loop.
    package let latencies: [Duration]
    /// The verdicts that the answer counts.
    package let tally: Tally
}

/// The state of a run, shared by its streams. The clock starts once every stream is open.
final class BenchProgress: Sendable {
    private struct State: Sendable {
        var waiting: [Signal] = []
        var start: ContinuousClock.Instant?
        var last: ContinuousClock.Instant
        var underWay = 0
        var settledRequests = 0
        var sentEvents = 0
    }

    let schedule: BenchSchedule
    let ids = BenchIDs()
    private let streamCount: Int
    private let nextTurn = Atomic(0)
    private let state: Mutex<State>

    init(_ plan: BenchPlan) {
        self.schedule = BenchSchedule(plan)
        self.streamCount = plan.connections * plan.streams
        self.state = Mutex(State(last: .now))
    }

    /// Waits until all streams have called this; returns the start of the run. Later streams do not
    /// wait.
    func waitForStart() async throws -> ContinuousClock.Instant {
        let signal = Signal()
        let start = self.state.withLock { state -> ContinuousClock.Instant? in
            if let start = state.start { return start }
            state.waiting.append(signal)
            guard state.waiting.count == self.streamCount else { return nil }
            let start = ContinuousClock.now
            state.start = start
            state.last = start
            for waiting in state.waiting { waiting.raise() }
            state.waiting = []
            return start
        }
        if let start { return start }
        try await signal.wait()
        return self.start ?? .now
    }

    /// When the run began; nil before.
    var start: ContinuousClock.Instant? { self.state.withLock { $0.start } }

    /// Takes the next request of the run; nil at its end.
    func takeTurn(elapsed: Duration) -> BenchSchedule.Turn? {
        // The counter may exceed the end by one per stream; `sent` does not count those.
        self.schedule.turn(
            self.nextTurn.wrappingAdd(1, ordering: .relaxed).oldValue, elapsed: elapsed)
    }

    func noteSent(events: Int) {
        self.state.withLock { state in
            state.sentEvents += events
            // After an idle period, patience starts anew.
            if state.underWay == 0 { state.last = .now }
            state.underWay += 1
        }
    }

    func noteSettled(_ count: Int) {
        guard count > 0 else { return }
        self.state.withLock { state in
            state.underWay -= count
            state.settledRequests += count
            state.last = .now
        }
    }

    /// The number of requests in flight.
    var underWay: Int { self.state.withLock { $0.underWay } }

    /// The requests and events sent, acknowledged or not.
    var sent: (requests: Int, events: Int) {
        self.state.withLock { ($0.underWay + $0.settledRequests, $0.sentEvents) }
    }

    /// The time from the start to the last ack.
    var elapsed: Duration {
        self.state.withLock { state in state.start.map { state.last - $0 } ?? .zero }
    }

    /// How long the server has owed an ack, or streams have not opened.
    func stalled(at now: ContinuousClock.Instant) -> Duration {
        self.state.withLock { state in
            state.start != nil && state.underWay == 0 ? .zero : now - state.last
        }
    }
}
