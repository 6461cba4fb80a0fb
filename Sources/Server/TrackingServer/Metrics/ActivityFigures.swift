internal import AdminServer
internal import Logging
internal import Telemetry

/// The figures of a log summary: counts, and the sinks' backlog.
struct ActivityFigures: Equatable {
    /// Counts since the start, by their names in the summary.
    private(set) var counts: [String: Double] = [:]
    /// Refusals since the start, by reason.
    private(set) var refusals: [String: Double] = [:]
    /// The largest backlog of any sink.
    private(set) var lagGroups = 0.0
    private(set) var lagSeconds = 0.0

    /// Creates figures of zero.
    init() {}

    /// Takes the figures from a scrape.
    init(_ families: [MetricFamily]) {
        for family in families {
            for sample in family.samples {
                guard case .number(let number) = sample.value else { continue }
                let label = sample.labels.first?.value ?? ""
                switch family.name {
                case MetricDescription.events.name: self.counts[label, default: 0] += number
                case MetricDescription.hits.name: self.counts["hits", default: 0] += number
                case MetricDescription.sinkRetries.name:
                    self.counts["sink_retries", default: 0] += number
                case MetricDescription.deadLetters.name:
                    self.counts["dead_letters", default: 0] += number
                case MetricDescription.refusals.name: self.refusals[label] = number
                case MetricDescription.sinkLagGroups.name:
                    self.lagGroups = max(self.lagGroups, number)
                case MetricDescription.sinkLag.name:
                    self.lagSeconds = max(self.lagSeconds, number)
                default: continue
                }
            }
        }
    }

    /// The changes since `earlier` as metadata; nil if nothing happened and no sink has a backlog.
    func metadata(since earlier: ActivityFigures) -> Logger.Metadata? {
        let counts = Self.growth(self.counts, since: earlier.counts)
        let refusals = Self.growth(self.refusals, since: earlier.refusals)
        guard !counts.isEmpty || !refusals.isEmpty || self.lagGroups > 0 else { return nil }
        var metadata: Logger.Metadata = counts.mapValues { .number(Int($0)) }
        if !refusals.isEmpty {
            metadata["refusals"] = .dictionary(refusals.mapValues { .number(Int($0)) })
        }
        metadata["lag_groups"] = .number(Int(self.lagGroups))
        metadata["lag_seconds"] = .stringConvertible((self.lagSeconds * 10).rounded() / 10)
        return metadata
    }

    private static func growth(
        _ counts: [String: Double], since earlier: [String: Double]
    ) -> [String: Double] {
        counts.map { ($0, $1 - (earlier[$0] ?? 0)) }.reduce(into: [:]) { growth, count in
            if count.1 > 0 { growth[count.0] = count.1 }
        }
    }
}
