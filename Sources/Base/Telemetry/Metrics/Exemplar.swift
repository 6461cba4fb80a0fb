package import W3CTrace

/// A measured value with the span in which it was measured.
package struct Exemplar: Sendable, Equatable {
    /// The value, in the histogram's unit.
    package let value: Double
    /// In hexadecimal.
    package let traceID: String
    /// In hexadecimal.
    package let spanID: String
    /// When it was measured, in microseconds since 1970.
    package let time: Int64

    /// Creates an exemplar for a value measured in a span.
    package init(value: Double, of span: TraceContext, time: Int64) {
        let fields = span.traceparent.split(separator: "-")
        self.value = value
        self.traceID = String(fields[1])
        self.spanID = String(fields[2])
        self.time = time
    }
}

/// Adds exemplars to a histogram whose values are recorded elsewhere.
package struct ExemplarRecorder: Sendable {
    private let series: HistogramSeries

    init(_ series: HistogramSeries) { self.series = series }

    /// Keeps an exemplar as the newest of its bucket.
    package func offer(_ exemplar: Exemplar) { self.series.offer(exemplar) }
}
