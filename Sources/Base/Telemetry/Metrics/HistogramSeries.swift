internal import CoreMetrics
internal import Synchronization

/// A histogram with fixed bounds: an addition to a bucket and one to the sum per value.
final class HistogramSeries: MetricSeries, RecorderHandler, TimerHandler {
    private let bounds: [Double]
    // An array cannot hold atomics. The allocation never moves and lives as long as the series, and
    // its elements are safe to share.
    private nonisolated(unsafe) let counts: UnsafeMutablePointer<Atomic<Int>>
    private let sum = AtomicDouble()
    /// The newest exemplar of each bucket; empty until there is one.
    private let exemplars = Mutex<[Exemplar?]>([])

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
                sum: self.sum.value, exemplars: self.exemplars.withLock { $0 }))
    }

    func offer(_ exemplar: Exemplar) {
        let bucket = self.bucket(of: exemplar.value)
        self.exemplars.withLock { exemplars in
            if exemplars.isEmpty {
                exemplars = Array(repeating: nil, count: self.bounds.count + 1)
            }
            exemplars[bucket] = exemplar
        }
    }

    func record(_ value: Double) {
        self.counts[self.bucket(of: value)].wrappingAdd(1, ordering: .relaxed)
        self.sum.add(value)
    }

    private func bucket(of value: Double) -> Int {
        // Bounds are few: a linear search is fastest.
        var index = 0
        while index < self.bounds.count, value > self.bounds[index] { index += 1 }
        return index
    }

    func record(_ value: Int64) { self.record(Double(value)) }

    /// Records a duration in seconds.
    func recordNanoseconds(_ duration: Int64) { self.record(Double(duration) / 1e9) }
}
