internal import Telemetry

/// The durations recorded between two readings of a histogram.
struct DurationQuantiles {
    private let bounds: [Double]
    private let counts: [Int]
    private let total: Int

    /// Subtracts `earlier` from `later`; without `earlier`, takes `later` as it is.
    init(_ later: MetricSample.Distribution, since earlier: MetricSample.Distribution?) {
        self.bounds = later.bounds
        if let earlier, earlier.counts.count == later.counts.count {
            self.counts = zip(later.counts, earlier.counts).map { max(0, $0 &- $1) }
        } else {
            self.counts = later.counts
        }
        self.total = self.counts.reduce(0, &+)
    }

    /// A quantile in seconds, interpolated linearly within its bucket and limited to the last
    /// bound. Nil if there are no durations.
    func quantile(_ share: Double) -> Double? {
        guard self.total > 0 else { return nil }
        let rank = share * Double(self.total)
        var below = 0
        for (place, count) in self.counts.enumerated() where count > 0 {
            guard Double(below &+ count) >= rank else {
                below &+= count
                continue
            }
            guard place < self.bounds.count else { break }
            let lower = place == 0 ? 0 : self.bounds[place - 1]
            let part = (rank - Double(below)) / Double(count)
            return lower + (self.bounds[place] - lower) * part
        }
        return self.bounds.last
    }
}
