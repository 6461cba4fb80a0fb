/// The samples of a metric at one moment, as a scrape reads them.
package struct MetricFamily: Sendable, Equatable {
    /// The metric's description.
    package let description: MetricDescription
    /// At least one sample, in ascending order of their labels' values.
    package let samples: [MetricSample]

    /// The metric's full name.
    package var name: String { self.description.name }
    /// The metric's help text.
    package var help: String { self.description.help }
    /// The metric's kind.
    package var kind: MetricDescription.Kind { self.description.kind }

    /// Creates a family.
    package init(description: MetricDescription, samples: [MetricSample]) {
        self.description = description
        self.samples = samples
    }
}

/// A series at one moment.
package struct MetricSample: Sendable, Equatable {
    /// A label with its value.
    package struct Label: Sendable, Equatable {
        /// The name, as in the description.
        package let name: String
        /// The value, unescaped.
        package let value: String

        /// Creates a label.
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A measured value.
    package enum Value: Sendable, Equatable {
        /// The value of a counter or gauge.
        case number(Double)
        /// The counts of a histogram.
        case histogram(Distribution)
    }

    /// A histogram's buckets.
    package struct Distribution: Sendable, Equatable {
        /// The upper bounds, ascending and without +Inf.
        package let bounds: [Double]
        /// The values in each bucket, not cumulative; the last count is of values above all bounds.
        package let counts: [Int]
        /// The sum of all values.
        package let sum: Double
        /// The newest exemplar of each bucket; empty without any.
        package let exemplars: [Exemplar?]

        /// The number of values.
        package var count: Int { self.counts.reduce(0, &+) }

        /// Creates a distribution; `counts` has one element more than `bounds`.
        package init(
            bounds: [Double], counts: [Int], sum: Double, exemplars: [Exemplar?] = []
        ) {
            self.bounds = bounds
            self.counts = counts
            self.sum = sum
            self.exemplars = exemplars
        }
    }

    /// The labels, in the order of the description.
    package let labels: [Label]
    /// The measured value.
    package let value: Value

    /// Creates a sample.
    package init(labels: [Label], value: Value) {
        self.labels = labels
        self.value = value
    }
}
