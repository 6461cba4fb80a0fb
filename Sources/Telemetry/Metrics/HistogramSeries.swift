// A histogram of fixed bounds: one addition to a count and one to the sum for each value.
internal import CoreMetrics
internal import Synchronization

/// Counts values by upper bounds.
final class HistogramSeries: MetricSeries, RecorderHandler, TimerHandler {
    private let bounds: [Double]
    // An array holds no atomics. This memory is never moved and lives as long as its owner, and
    // what is in it is made for many threads.
    private nonisolated(unsafe) let counts: UnsafeMutablePointer<Atomic<Int>>
    private let sum = AtomicDouble()

    init(bounds: [Double]) {
        self.bounds = bounds
        self.counts = .allocate(capacity: bounds.count + 1)
        for index in 0...bounds.count { (self.counts + index).initialize(to: Atomic(0)) }
    }

    deinit {
        self.counts.deinitialize(count: self.bounds.count + 1)
        self.counts.deallocate()
    }

    var value: MetricSample.Value {
        .histogram(
            MetricSample.Distribution(
                bounds: self.bounds,
                counts: (0...self.bounds.count).map { self.counts[$0].load(ordering: .relaxed) },
                sum: self.sum.value))
    }

    func record(_ value: Double) {
        // Most bounds lists have a dozen places: a walk beats a search.
        var index = 0
        while index < self.bounds.count, value > self.bounds[index] { index += 1 }
        self.counts[index].wrappingAdd(1, ordering: .relaxed)
        self.sum.add(value)
    }

    func record(_ value: Int64) { self.record(Double(value)) }

    /// Durations are recorded in seconds.
    func recordNanoseconds(_ duration: Int64) { self.record(Double(duration) / 1e9) }
}
