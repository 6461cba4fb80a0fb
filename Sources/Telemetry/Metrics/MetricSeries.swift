// What the registry holds of each series.

/// One series, that counts in atomics: whoever counts never waits.
protocol MetricSeries: AnyObject, Sendable {
    /// A series that has counted nothing. `bounds` are a histogram's.
    init(bounds: [Double])

    /// What it has come to.
    var value: MetricSample.Value { get }
}
