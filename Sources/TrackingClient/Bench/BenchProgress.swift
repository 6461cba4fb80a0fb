// What all streams of a load share: the clock, the next request's number, and what came back.
internal import Synchronization
package import TrackingCore

/// What one answer told.
package struct BenchAnswer: Sendable {
    /// From when each request that it settled was sent, or in an open loop was due.
    package let latencies: [Duration]
    /// The events that it tells of.
    package let tally: Tally
}

/// The state of a run. Its clock starts once every stream is open.
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

    /// Returns when all streams have come here, with the run's start; later streams don't wait.
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

    /// When the run began; nil before that.
    var start: ContinuousClock.Instant? { self.state.withLock { $0.start } }

    /// The next request of the run; nil where there are no more.
    func takeTurn(elapsed: Duration) -> BenchSchedule.Turn? {
        // Numbers beyond the end are taken too, by every stream once: `sent` knows better.
        self.schedule.turn(
            self.nextTurn.wrappingAdd(1, ordering: .relaxed).oldValue, elapsed: elapsed)
    }

    func noteSent(events: Int) {
        self.state.withLock { state in
            state.sentEvents += events
            // What is sent after an idle time has all of the patience before it.
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

    /// Requests that were sent and are not acked.
    var underWay: Int { self.state.withLock { $0.underWay } }

    /// Requests and events that were sent, acked or not.
    var sent: (requests: Int, events: Int) {
        self.state.withLock { ($0.underWay + $0.settledRequests, $0.sentEvents) }
    }

    /// From the start to the last ack.
    var elapsed: Duration {
        self.state.withLock { state in state.start.map { state.last - $0 } ?? .zero }
    }

    /// For how long the server owes an ack, or streams that do not open.
    func stalled(at now: ContinuousClock.Instant) -> Duration {
        self.state.withLock { state in
            state.start != nil && state.underWay == 0 ? .zero : now - state.last
        }
    }
}
