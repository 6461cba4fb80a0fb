package import CoreMetrics

extension MetricsRegistry {
    /// A series of a counter; `values` are those of its labels, in order.
    package func counter(_ description: MetricDescription, _ values: String...) -> Counter {
        Counter(
            label: description.name, dimensions: description.dimensions(values), factory: self)
    }

    /// A series that is set instead of incremented: a gauge, or a counter kept elsewhere.
    package func meter(_ description: MetricDescription, _ values: String...) -> Meter {
        Meter(label: description.name, dimensions: description.dimensions(values), factory: self)
    }

    /// A series of a histogram of numbers.
    package func recorder(_ description: MetricDescription, _ values: String...) -> Recorder {
        Recorder(
            label: description.name, dimensions: description.dimensions(values), aggregate: true,
            factory: self)
    }

    /// A series of a histogram, in seconds.
    package func timer(_ description: MetricDescription, _ values: String...) -> Timer {
        Timer(label: description.name, dimensions: description.dimensions(values), factory: self)
    }
}

extension MetricDescription {
    fileprivate func dimensions(_ values: [String]) -> [(String, String)] {
        Array(zip(self.labels, values))
    }
}
