// Series of declared metrics, made by their description: no name is written twice.
package import CoreMetrics

extension MetricsRegistry {
    /// A counter's series with these values of its labels, in their order.
    package func counter(_ description: MetricDescription, _ values: String...) -> Counter {
        Counter(
            label: description.name, dimensions: description.dimensions(values), factory: self)
    }

    /// A series that is set: a gauge's, or that of a counter that is kept elsewhere.
    package func meter(_ description: MetricDescription, _ values: String...) -> Meter {
        Meter(label: description.name, dimensions: description.dimensions(values), factory: self)
    }

    /// A histogram's series, in seconds.
    package func timer(_ description: MetricDescription, _ values: String...) -> Timer {
        Timer(label: description.name, dimensions: description.dimensions(values), factory: self)
    }
}

extension MetricDescription {
    fileprivate func dimensions(_ values: [String]) -> [(String, String)] {
        Array(zip(self.labels, values))
    }
}
