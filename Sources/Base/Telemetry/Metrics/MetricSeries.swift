/// A series of a metric. It uses atomics, so that recording never blocks.
protocol MetricSeries: AnyObject, Sendable {
    /// Creates a series at 0; `bounds` are those of a histogram.
    init(bounds: [Double])

    /// The current value.
    var value: MetricSample.Value { get }
}
