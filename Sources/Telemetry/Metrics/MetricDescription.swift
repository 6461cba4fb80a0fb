// What a metric is, said once before anything is counted: the exposition and the documentation
// both read it.

/// The declaration of one metric family.
package struct MetricDescription: Sendable, Equatable {
    /// What a family's samples are, in Prometheus's words.
    package enum Kind: String, Sendable {
        /// Only ever rises, and starts at 0 with the process.
        case counter
        /// Rises and falls.
        case gauge
        /// Counts values by fixed upper bounds.
        case histogram
    }

    /// The full name, with its unit at the end; a counter's ends in `_total`.
    package let name: String
    /// One sentence without a full stop.
    package let help: String
    /// What its samples are.
    package let kind: Kind
    /// The names of its labels, in the order in which each of its series gives their values.
    package let labels: [String]
    /// A histogram's upper bounds, ascending and without +Inf; empty for the other kinds.
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

    /// A counter.
    package static func counter(_ name: String, _ help: String, labels: String...) -> Self {
        Self(name, .counter, help, labels, [])
    }

    /// A gauge.
    package static func gauge(_ name: String, _ help: String, labels: String...) -> Self {
        Self(name, .gauge, help, labels, [])
    }

    /// A histogram with these ascending upper bounds, without +Inf.
    package static func histogram(
        _ name: String, _ help: String, labels: String..., bounds: [Double]
    ) -> Self {
        Self(name, .histogram, help, labels, bounds)
    }
}
