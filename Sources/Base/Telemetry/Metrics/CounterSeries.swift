internal import CoreMetrics
internal import Synchronization

/// An integer counter: one atomic addition per increment.
final class CounterSeries: MetricSeries, CounterHandler {
    private let count = Atomic<Int64>(0)

    init(bounds: [Double]) {}

    var value: MetricSample.Value { .number(Double(self.count.load(ordering: .relaxed))) }

    func increment(by amount: Int64) { self.count.wrappingAdd(amount, ordering: .relaxed) }

    func reset() { self.count.store(0, ordering: .relaxed) }
}
