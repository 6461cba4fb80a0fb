package import CoreMetrics
internal import Synchronization

/// The backend of swift-metrics: creates the series of declared metrics, and reads them for
/// scrapes.
///
/// A series that does not match a declaration is dropped: an unknown name, other labels, another
/// kind, or too many series of a family. The caller gets a working series that no scrape shows.
package final class MetricsRegistry: MetricsFactory {
    /// The maximum series of a family. Label values come from enums or the configuration, so only a
    /// bug exceeds it, which must not exhaust the memory of the server or of Prometheus.
    package static let maxSeriesPerFamily = 256

    private struct Family {
        let description: MetricDescription
        /// The series by the values of their labels.
        var series: [[String]: any MetricSeries] = [:]
    }

    private struct State {
        var families: [String: Family]
        var droppedSeries = 0
    }

    private let names: [String]
    private let state: Mutex<State>
    private let collectors = Mutex<[@Sendable () -> Void]>([])

    /// Creates a registry for declared metrics; the first of two with the same name wins.
    package init(_ descriptions: [MetricDescription]) {
        self.names = descriptions.map(\.name)
        let families = descriptions.map { ($0.name, Family(description: $0)) }
        self.state = Mutex(State(families: Dictionary(families) { first, _ in first }))
    }

    /// The number of series that were dropped.
    package var droppedSeries: Int { self.state.withLock { $0.droppedSeries } }

    /// Registers a closure to be called at the start of each `families()`, to update values kept
    /// elsewhere. Concurrent scrapes may call it at the same time.
    package func onCollect(_ body: @escaping @Sendable () -> Void) {
        self.collectors.withLock { $0.append(body) }
    }

    /// The families that have a series, in the order of declaration.
    package func families() -> [MetricFamily] {
        for collect in self.collectors.withLock({ $0 }) { collect() }
        let families = self.state.withLock { $0.families }
        return self.names.compactMap { name in
            guard let family = families[name], !family.series.isEmpty else { return nil }
            return MetricFamily(
                description: family.description, samples: Self.samples(of: family))
        }
    }

    private static func samples(of family: Family) -> [MetricSample] {
        family.series
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
            .map { values, series in
                MetricSample(
                    labels: zip(family.description.labels, values).map { name, value in
                        MetricSample.Label(name: name, value: value)
                    },
                    value: series.value)
            }
    }

    // MARK: MetricsFactory

    /// Creates an integer counter.
    package func makeCounter(
        label: String, dimensions: [(String, String)]
    ) -> any CounterHandler {
        self.series(label, dimensions, of: .counter) as CounterSeries
    }

    /// Creates a floating-point counter.
    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        self.series(label, dimensions, of: .counter) as NumberSeries
    }

    /// Creates a gauge, or a counter that is kept elsewhere and set.
    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        self.series(label, dimensions, of: .gauge, .counter) as NumberSeries
    }

    /// Creates a histogram if `aggregate` is true, else a gauge.
    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        aggregate
            ? self.series(label, dimensions, of: .histogram) as HistogramSeries
            : self.series(label, dimensions, of: .gauge) as NumberSeries
    }

    /// Creates a histogram in seconds.
    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        self.series(label, dimensions, of: .histogram) as HistogramSeries
    }

    /// Removes the counter from scrapes.
    package func destroyCounter(_ handler: any CounterHandler) { self.remove(handler) }

    /// Removes the counter from scrapes.
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
        self.remove(handler)
    }

    /// Removes the meter from scrapes.
    package func destroyMeter(_ handler: any MeterHandler) { self.remove(handler) }

    /// Removes the recorder from scrapes.
    package func destroyRecorder(_ handler: any RecorderHandler) { self.remove(handler) }

    /// Removes the timer from scrapes.
    package func destroyTimer(_ handler: any TimerHandler) { self.remove(handler) }

    /// The existing or a new series of a declared family, or a detached one.
    private func series<Series: MetricSeries>(
        _ name: String, _ dimensions: [(String, String)], of kinds: MetricDescription.Kind...
    ) -> Series {
        self.state.withLock { state in
            let description = state.families[name]?.description
            let values = dimensions.map(\.1)
            let known = state.families[name]?.series
            if let same = known?[values] as? Series { return same }
            let series = Series(bounds: description?.bounds ?? [])
            guard let description, let known, kinds.contains(description.kind),
                description.labels == dimensions.map(\.0), known[values] == nil,
                known.count < Self.maxSeriesPerFamily
            else {
                state.droppedSeries &+= 1
                return series
            }
            state.families[name]?.series[values] = series
            return series
        }
    }

    /// Adds exemplars to a histogram's series; `values` are those of its labels, in order.
    package func exemplars(
        _ description: MetricDescription, _ values: String...
    ) -> ExemplarRecorder {
        let dimensions = Array(zip(description.labels, values))
        return ExemplarRecorder(self.series(description.name, dimensions, of: .histogram))
    }

    /// Removes every series from scrapes whose value of a label is not in `values`.
    package func retain(_ label: String, _ values: Set<String>) {
        self.state.withLock { state in
            for name in self.names {
                guard let place = state.families[name]?.description.labels.firstIndex(of: label)
                else { continue }
                let kept = state.families[name]?.series.filter { values.contains($0.key[place]) }
                state.families[name]?.series = kept ?? [:]
            }
        }
    }

    private func remove(_ handler: AnyObject) {
        self.state.withLock { state in
            for name in self.names {
                let series = state.families[name]?.series.first { $0.value === handler }
                if let series { state.families[name]?.series[series.key] = nil }
            }
        }
    }
}
