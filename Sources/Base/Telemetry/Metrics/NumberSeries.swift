internal import CoreMetrics
internal import Synchronization

/// A floating-point number that is set or added to: gauges, and counters kept elsewhere.
final class NumberSeries:
    MetricSeries, FloatingPointCounterHandler, MeterHandler, RecorderHandler
{
    private let number = AtomicDouble()

    init(bounds: [Double]) {}

    var value: MetricSample.Value { .number(self.number.value) }

    func set(_ value: Double) { self.number.set(value) }

    func set(_ value: Int64) { self.number.set(Double(value)) }

    func record(_ value: Double) { self.number.set(value) }

    func record(_ value: Int64) { self.number.set(Double(value)) }

    func increment(by amount: Double) { self.number.add(amount) }

    func decrement(by amount: Double) { self.number.add(-amount) }

    func reset() { self.number.set(0) }
}
