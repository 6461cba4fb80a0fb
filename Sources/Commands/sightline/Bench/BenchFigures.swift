internal import Foundation
internal import Histogram
internal import SightlineProtos
internal import Synchronization
internal import TrackingReport

/// The figures of a run, as printed.
struct BenchFigures: Encodable {
    private static let percentiles = [
        ("p50", "p50_microseconds", 50.0), ("p99", "p99_microseconds", 99),
        ("p99.9", "p999_microseconds", 99.9), ("max", "max_microseconds", 100),
    ]

    /// Whether every event was accepted; a repeat may be a duplicate.
    let isAllAccepted: Bool
    let seconds: Double
    let events: Int
    /// Whatever became of them.
    let eventsPerSecond: Double
    let acceptedPerSecond: Double
    /// Percentiles in microseconds.
    let latency: [String: Double]
    let accepted: UInt64
    let suppressed: UInt64
    let duplicate: UInt64
    let rejected: UInt64
    let retryLater: UInt64
    /// Requests that were due in an open loop but not sent.
    let unsentRequests: Int
    /// The processor time of this process, which generates the load.
    let generatorMicrosecondsPerEvent: Double

    /// The figures of a run that has just ended.
    init(_ run: BenchRun, processorSeconds: Double) {
        let totals = run.totals.withLock { $0 }
        let (verdicts, latencies) = (totals.verdicts, totals.latencies)
        let seconds = totals.start.map { (.now - $0) / .seconds(1) } ?? 0
        self.events = min(totals.sentRequests * run.plan.batch, run.plan.events ?? .max)
        let repeated = UInt64(run.events.repeatedCount(of: self.events))
        self.accepted = verdicts.accepted
        self.suppressed = verdicts.suppressed
        self.duplicate = verdicts.duplicate
        self.rejected = verdicts.rejected
        self.retryLater = verdicts.retryLater
        self.isAllAccepted =
            self.events > 0 && self.duplicate == repeated
            && self.accepted + repeated == UInt64(self.events)
        self.seconds = (seconds * 1000).rounded() / 1000
        func rate(_ count: Int) -> Double {
            seconds > 0 ? (Double(count) / seconds).rounded() : 0
        }
        self.eventsPerSecond = rate(self.events)
        self.acceptedPerSecond = rate(Int(clamping: self.accepted))
        self.latency = Dictionary(
            uniqueKeysWithValues: Self.percentiles.map { _, key, percentile in
                // A bucket's upper end may exceed the largest value.
                let value = min(latencies.valueAtPercentile(percentile), latencies.max)
                return (key, (Double(value) / 100).rounded() / 10)
            })
        self.unsentRequests = run.plan.requestCount.map { $0 - totals.sentRequests } ?? 0
        let nanoseconds = (processorSeconds * 1e9 / Double(max(1, self.events))).rounded()
        self.generatorMicrosecondsPerEvent = nanoseconds / 1000
    }

    /// The figures as text.
    var lines: [String] {
        var table = TextTable([("", .left), ("", .right)])
        // First what counts: a server refuses faster than it accepts.
        table.add(["accepted events/s", Figure.grouped(Int(self.acceptedPerSecond))])
        if self.accepted < self.events {
            table.add(["sent events/s", Figure.grouped(Int(self.eventsPerSecond))])
        }
        for (name, key, _) in Self.percentiles {
            let milliseconds = (self.latency[key] ?? 0) / 1000
            table.add(["ack \(name)", String(format: "%.3f ms", milliseconds)])
        }
        for (name, count) in [
            ("events sent", UInt64(self.events)), ("ACCEPTED", self.accepted),
            ("SUPPRESSED", self.suppressed), ("DUPLICATE", self.duplicate),
            ("REJECTED", self.rejected), ("RETRY_LATER", self.retryLater),
            ("requests that were due and not sent", UInt64(max(0, self.unsentRequests))),
        ] where count > 0 || name == "ACCEPTED" {
            table.add([name, Figure.grouped(Int(clamping: count))])
        }
        table.add(["seconds", String(format: "%.3f", self.seconds)])
        let cost = String(format: "%.3f µs", self.generatorMicrosecondsPerEvent)
        table.add(["this program's CPU per event", cost])
        return table.lines()
    }
}
