// Where all that is counted comes together: the backend of swift-metrics, and what a scrape reads.
package import CoreMetrics
internal import Synchronization

/// Makes the series of the metrics that were declared to it, and reads them all at a scrape.
///
/// What is not as declared is counted as dropped and shown nowhere: an undeclared name, other
/// labels, another kind, or one series more than a family may have. Whoever counts there goes on
/// unharmed.
package final class MetricsRegistry: MetricsFactory {
    /// How many series a family may have. Every label's values come from an enum or from the
    /// configuration, so only a mistake comes here; it must not eat the memory of the server, or
    /// of who scrapes it.
    package static let maxSeriesPerFamily = 256

    private struct Family {
        let description: MetricDescription
        /// By the values of their labels.
        var series: [[String]: any MetricSeries] = [:]
    }

    private struct State {
        var families: [String: Family]
        var droppedSeries = 0
    }

    private let names: [String]
    private let state: Mutex<State>
    private let collectors = Mutex<[@Sendable () -> Void]>([])

    /// A registry of the metrics that are declared here; of two with one name the first counts.
    package init(_ descriptions: [MetricDescription]) {
        self.names = descriptions.map(\.name)
        let families = descriptions.map { ($0.name, Family(description: $0)) }
        self.state = Mutex(State(families: Dictionary(families) { first, _ in first }))
    }

    /// How many series were asked for and not given.
    package var droppedSeries: Int { self.state.withLock { $0.droppedSeries } }

    /// Has `body` called at the start of each `families()`, to set what nobody counts: the size of
    /// a file, say. Two scrapes may call it at the same time.
    package func onCollect(_ body: @escaping @Sendable () -> Void) {
        self.collectors.withLock { $0.append(body) }
    }

    /// Every family that has a series, in the order of their declaration.
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

    /// A counter of whole things.
    package func makeCounter(
        label: String, dimensions: [(String, String)]
    ) -> any CounterHandler {
        self.series(label, dimensions, of: .counter) as CounterSeries
    }

    /// A counter of fractions.
    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        self.series(label, dimensions, of: .counter) as NumberSeries
    }

    /// A gauge, or a counter that is kept elsewhere and set at a scrape.
    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        self.series(label, dimensions, of: .gauge, .counter) as NumberSeries
    }

    /// A histogram where it aggregates, or else a gauge.
    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        aggregate
            ? self.series(label, dimensions, of: .histogram) as HistogramSeries
            : self.series(label, dimensions, of: .gauge) as NumberSeries
    }

    /// A histogram in seconds.
    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        self.series(label, dimensions, of: .histogram) as HistogramSeries
    }

    /// Shows the counter no longer.
    package func destroyCounter(_ handler: any CounterHandler) { self.remove(handler) }

    /// Shows the counter no longer.
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
        self.remove(handler)
    }

    /// Shows the meter no longer.
    package func destroyMeter(_ handler: any MeterHandler) { self.remove(handler) }

    /// Shows the recorder no longer.
    package func destroyRecorder(_ handler: any RecorderHandler) { self.remove(handler) }

    /// Shows the timer no longer.
    package func destroyTimer(_ handler: any TimerHandler) { self.remove(handler) }

    /// The series of a declared family: the one there is, a new one, or one that is shown nowhere.
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

    private func remove(_ handler: AnyObject) {
        self.state.withLock { state in
            for name in self.names {
                let series = state.families[name]?.series.first { $0.value === handler }
                if let series { state.families[name]?.series[series.key] = nil }
            }
        }
    }
}
