// The counter of the hot path: one addition.
internal import CoreMetrics
internal import Synchronization

/// Counts whole things.
final class CounterSeries: MetricSeries, CounterHandler {
    private let count = Atomic<Int64>(0)

    init(bounds: [Double]) {}

    var value: MetricSample.Value { .number(Double(self.count.load(ordering: .relaxed))) }

    func increment(by amount: Int64) { self.count.wrappingAdd(amount, ordering: .relaxed) }

    func reset() { self.count.store(0, ordering: .relaxed) }
}
