// When each request of a load is due, and when there are no more.

/// The requests of a run, by number. Pure: the clock is the caller's.
struct BenchSchedule: Sendable {
    private let plan: BenchPlan

    /// One request.
    struct Turn: Equatable {
        /// Events in it.
        let eventCount: Int
        /// When it is due, from the run's start; nil where it is due as soon as there is room.
        let due: Duration?
    }

    init(_ plan: BenchPlan) { self.plan = plan }

    /// The request with a number from 0; nil where the run is over before it.
    func turn(_ number: Int, elapsed: Duration) -> Turn? {
        let due = self.due(number)
        switch self.plan.end {
        case .events(let total):
            let (first, overflows) = number.multipliedReportingOverflow(by: self.plan.batch)
            guard !overflows, first < total else { return nil }
            return Turn(eventCount: min(self.plan.batch, total - first), due: due)
        case .seconds(let seconds):
            guard max(elapsed, due ?? .zero) < .seconds(seconds) else { return nil }
            return Turn(eventCount: self.plan.batch, due: due)
        }
    }

    /// Requests of an open loop that were due by `elapsed`; nil in a closed loop.
    func dueCount(by elapsed: Duration) -> Int? {
        guard let interval = self.interval else { return nil }
        switch self.plan.end {
        case .events(let total):
            return (total + self.plan.batch - 1) / self.plan.batch
        case .seconds(let seconds):
            // The quotient is rounded somewhere: what counts is when a request was due.
            let limit = min(elapsed, .seconds(seconds))
            var count = Int(limit / interval)
            while let due = self.due(count), due < limit { count += 1 }
            while count > 0, let due = self.due(count - 1), due >= limit { count -= 1 }
            return count
        }
    }

    /// The time between two requests of an open loop.
    private var interval: Duration? {
        self.plan.rate.map { .seconds(Double(self.plan.batch) / Double($0)) }
    }

    private func due(_ number: Int) -> Duration? {
        // From the start, not from the request before: what is rounded must not add up.
        self.plan.rate.map { .seconds(Double(number) * Double(self.plan.batch) / Double($0)) }
    }
}
