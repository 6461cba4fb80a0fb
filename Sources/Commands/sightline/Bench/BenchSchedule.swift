/// Tells when each request of a run is due. A value; the caller passes the time.
struct BenchSchedule: Sendable {
    private let plan: BenchPlan

    /// One request.
    struct Turn: Equatable {
        /// Events in it.
        let eventCount: Int
        /// When it is due, relative to the start; nil in a closed loop, as soon as there is room.
        let due: Duration?
    }

    init(_ plan: BenchPlan) { self.plan = plan }

    /// The request with a number, from 0 on; nil if the run ends before it.
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

    /// The number of requests due by `elapsed` in an open loop; nil in a closed loop.
    func dueCount(by elapsed: Duration) -> Int? {
        guard let interval = self.interval else { return nil }
        switch self.plan.end {
        case .events(let total):
            return (total + self.plan.batch - 1) / self.plan.batch
        case .seconds(let seconds):
            // The division may have been rounded: correct the count by the exact due times.
            let limit = min(elapsed, .seconds(seconds))
            var count = Int(limit / interval)
            while let due = self.due(count), due < limit { count += 1 }
            while count > 0, let due = self.due(count - 1), due >= limit { count -= 1 }
            return count
        }
    }

    /// The interval between requests of an open loop.
    private var interval: Duration? {
        self.plan.rate.map { .seconds(Double(self.plan.batch) / Double($0)) }
    }

    private func due(_ number: Int) -> Duration? {
        // Computed from the start, so that rounding errors do not accumulate.
        self.plan.rate.map { .seconds(Double(number) * Double(self.plan.batch) / Double($0)) }
    }
}
