internal import AdminProtocol
internal import SinkKit
internal import Telemetry
internal import TrackingRules

private typealias Metric = MetricDescription

/// One reading of the metrics, converted to the figures of the statistics.
struct StatisticsReading {
    var events = Statistics.EventCounts()
    var requests = 0
    var receivedBytes = 0
    var streams = 0
    var connections = 0
    var refusals: [Statistics.ReasonCount] = []
    var memory = Statistics.Memory()
    var journal = Statistics.Journal()
    var sinks: [Statistics.Sink] = []
    /// Seconds since 1970.
    var startTime = 0.0
    var acks: MetricSample.Distribution?
    var commits: MetricSample.Distribution?

    /// Creates an empty reading.
    init() {}

    /// Reads the metrics by name; a missing one leaves its figures at 0.
    init(_ families: [MetricFamily]) {
        for family in families {
            for sample in family.samples { self.take(sample, of: family.name) }
        }
        self.sinks.sort { $0.name < $1.name }
    }

    private mutating func take(_ sample: MetricSample, of name: String) {
        switch sample.value {
        case .histogram(let distribution): self.take(distribution, of: name)
        case .number(let number): self.take(number, sample.labels, of: name)
        }
    }

    private mutating func take(_ distribution: MetricSample.Distribution, of name: String) {
        switch name {
        case Metric.ackDuration.name: self.acks = distribution
        case Metric.commitDuration.name: self.commits = distribution
        default: break
        }
    }

    private mutating func take(
        _ number: Double, _ labels: [MetricSample.Label], of name: String
    ) {
        // A gauge may hold any number; one that is not an Int is shown as 0.
        guard let count = Int(exactly: number.rounded()) else { return }
        switch name {
        case Metric.events.name: self.events.add(count, verdict: labels["verdict"])
        case Metric.requests.name: self.requests &+= count
        case Metric.receivedBytes.name: self.receivedBytes &+= count
        case Metric.streams.name: self.streams = count
        case Metric.connections.name: self.connections = count
        case Metric.memoryInFlight.name: self.memory.inFlightBytes = count
        case Metric.memoryInFlightLimit.name: self.memory.inFlightLimitBytes = count
        case "process_resident_memory_bytes": self.memory.residentBytes = count
        case "process_start_time_seconds": self.startTime = number
        case Metric.journalBytes.name: self.journal.bytes = count
        case Metric.journalLimit.name: self.journal.limitBytes = count
        case Metric.journalOldestAge.name: self.journal.oldestAgeSeconds = number
        case Metric.refusals.name where count > 0:
            self.refusals.append(.init(reason: labels["reason"], count: count))
        default: self.takeSink(number, count, labels, of: name)
        }
    }

    private mutating func takeSink(
        _ number: Double, _ count: Int, _ labels: [MetricSample.Label], of name: String
    ) {
        let sink = labels["sink"]
        switch name {
        case Metric.sinkLagGroups.name: self.update(sink) { $0.lagGroups = count }
        case Metric.sinkLag.name: self.update(sink) { $0.lagSeconds = number }
        case Metric.sinkLagBytes.name: self.update(sink) { $0.lagBytes = count }
        case Metric.sinkPaused.name: self.update(sink) { $0.isPaused = count > 0 }
        case Metric.deliveredHits.name: self.update(sink) { $0.deliveredHits = count }
        case Metric.sinkRetries.name: self.update(sink) { $0.retries = count }
        case Metric.deadLetters.name: self.update(sink) { $0.deadLetters = count }
        case Metric.missedHits.name: self.update(sink) { $0.missedHits = count }
        case Metric.sinkBytes.name: self.update(sink) { $0.storedBytes = count }
        default: break
        }
    }

    private mutating func update(_ name: String, _ change: (inout Statistics.Sink) -> Void) {
        if let place = self.sinks.firstIndex(where: { $0.name == name }) {
            change(&self.sinks[place])
        } else {
            var sink = Statistics.Sink(name: name)
            change(&sink)
            self.sinks.append(sink)
        }
    }
}

extension [MetricSample.Label] {
    /// A label's value; empty if there is none.
    fileprivate subscript(name: String) -> String { self.first { $0.name == name }?.value ?? "" }
}

extension Statistics.EventCounts {
    /// Adds events by the metric's verdict label, e.g. `suppressed_flag_off`.
    fileprivate mutating func add(_ count: Int, verdict: String) {
        switch verdict {
        case "accepted": self.accepted &+= count
        case "duplicate": self.duplicate &+= count
        case "rejected": self.rejected &+= count
        case "retry_later": self.retryLater &+= count
        case _ where verdict.hasPrefix("suppressed"):
            self.suppressed &+= count
            self.suppressedBy.add(count, verdict: verdict)
        default: break
        }
    }
}

extension Statistics.Suppressed {
    fileprivate mutating func add(_ count: Int, verdict: String) {
        switch verdict {
        case "\(Verdict.suppressedFlagOff.name)": self.flagOff &+= count
        case "\(Verdict.suppressedFlagUnknown.name)": self.flagUnknown &+= count
        case "\(Verdict.suppressedConsent.name)": self.consent &+= count
        case "\(Verdict.suppressedTestMessage.name)": self.testMessage &+= count
        case "\(Verdict.suppressedDisplay.name)": self.display &+= count
        default: break
        }
    }
}
