// What a scrape reads: values alone, with nothing behind them that still counts.

/// A metric and its samples at one moment.
package struct MetricFamily: Sendable, Equatable {
    /// What the metric is.
    package let description: MetricDescription
    /// At least one, ascending by the values of their labels.
    package let samples: [MetricSample]

    /// The metric's full name.
    package var name: String { self.description.name }
    /// One sentence without a full stop.
    package var help: String { self.description.help }
    /// What the samples are.
    package var kind: MetricDescription.Kind { self.description.kind }

    /// A family of these samples.
    package init(description: MetricDescription, samples: [MetricSample]) {
        self.description = description
        self.samples = samples
    }
}

/// One series at one moment.
package struct MetricSample: Sendable, Equatable {
    /// A label's name and value.
    package struct Label: Sendable, Equatable {
        /// As the description names it.
        package let name: String
        /// Any text; the exposition escapes it.
        package let value: String

        /// A label.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What was measured.
    package enum Value: Sendable, Equatable {
        /// A counter's or a gauge's.
        case number(Double)
        /// A histogram's.
        case histogram(Distribution)
    }

    /// A histogram's counts.
    package struct Distribution: Sendable, Equatable {
        /// The upper bounds, ascending and without +Inf.
        package let bounds: [Double]
        /// How many values each bound holds that the bound before it does not; one more than
        /// there are bounds, for what is above the last one.
        package let counts: [Int]
        /// The sum of all values.
        package let sum: Double

        /// How many values there are.
        package var count: Int { self.counts.reduce(0, &+) }

        /// A distribution; there is one count more than there are bounds.
        package init(bounds: [Double], counts: [Int], sum: Double) {
            self.bounds = bounds
            self.counts = counts
            self.sum = sum
        }
    }

    /// In the order of the description.
    package let labels: [Label]
    /// What was measured.
    package let value: Value

    /// A sample.
    package init(labels: [Label], value: Value) {
        self.labels = labels
        self.value = value
    }
}
