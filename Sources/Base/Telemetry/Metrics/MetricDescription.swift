/// Describes a metric family for the exposition and the documentation.
package struct MetricDescription: Sendable, Equatable {
    /// The kind of a metric, as Prometheus names it.
    package enum Kind: String, Sendable {
        /// Only increases; starts at 0 with the process.
        case counter
        /// Increases and decreases.
        case gauge
        /// Counts values in buckets with fixed upper bounds.
        case histogram
    }

    /// The full name, which ends in the unit; a counter's ends in `_total`.
    package let name: String
    /// A sentence without a full stop.
    package let help: String
    /// The kind of the metric.
    package let kind: Kind
    /// The names of its labels, in the order of each series' values.
    package let labels: [String]
    /// The upper bounds of a histogram, ascending and without +Inf; empty for other kinds.
    package let bounds: [Double]

    private init(
        _ name: String, _ kind: Kind, _ help: String, _ labels: [String], _ bounds: [Double]
    ) {
        self.name = name
        self.help = help
        self.kind = kind
        self.labels = labels
        self.bounds = bounds
    }

    /// Describes a counter.
    package static func counter(_ name: String, _ help: String, labels: String...) -> Self {
        Self(name, .counter, help, labels, [])
    }

    /// Describes a gauge.
    package static func gauge(_ name: String, _ help: String, labels: String...) -> Self {
        Self(name, .gauge, help, labels, [])
    }

    /// Describes a histogram with ascending upper bounds, without +Inf.
    package static func histogram(
        _ name: String, _ help: String, labels: String..., bounds: [Double]
    ) -> Self {
        Self(name, .histogram, help, labels, bounds)
    }
}
