internal import Foundation
internal import Histogram
internal import TrackingReport
internal import TrackingRules

/// The figures of a `bench` run.
package struct BenchFigures: Encodable {
    /// The latency of acks since a request was sent, or due in an open loop.
    struct Latency: Encodable {
        let p50Microseconds: Double
        let p99Microseconds: Double
        let p999Microseconds: Double
        let maxMicroseconds: Double

        init(_ nanoseconds: Histogram<UInt64>) {
            func at(_ percentile: Double) -> Double {
                guard nanoseconds.totalCount > 0 else { return 0 }
                // A bucket's upper end may exceed the largest value.
                let value = min(nanoseconds.valueAtPercentile(percentile), nanoseconds.max)
                return (Double(value) / 100).rounded() / 10
            }
            self.p50Microseconds = at(50)
            self.p99Microseconds = at(99)
            self.p999Microseconds = at(99.9)
            self.maxMicroseconds = at(100)
        }
    }

    /// Whether every event was accepted.
    package let isAllAccepted: Bool
    let loop: String
    let mix: String
    let connections: Int
    let streams: Int
    let batch: Int
    let eventBytes: Int
    let window: Int
    let rate: Int?
    let seconds: Double
    let events: Int
    let eventsPerSecond: Double
    let latency: Latency
    let accepted: Int
    let suppressed: Int
    let duplicate: Int
    let rejected: Int
    let retryLater: Int
    /// Requests that were due in an open loop but not sent.
    let unsentRequests: Int
    /// The processor time of this process.
    let generatorMicrosecondsPerEvent: Double

    init(
        _ plan: BenchPlan, _ summary: BenchSummary, tally: Tally, latency: Latency,
        processorSeconds: Double
    ) {
        let seconds = summary.elapsed / .seconds(1)
        self.isAllAccepted =
            tally.accepted == summary.sentEvents && summary.sentEvents > 0
            && tally.suppressed + tally.duplicate + tally.rejected + tally.retryLater == 0
        self.loop = plan.rate == nil ? "closed" : "open"
        self.mix = plan.mix.rawValue
        self.connections = plan.connections
        self.streams = plan.streams
        self.batch = plan.batch
        self.eventBytes = plan.eventBytes
        self.window = plan.window
        self.rate = plan.rate
        self.seconds = (seconds * 1000).rounded() / 1000
        self.events = summary.sentEvents
        self.eventsPerSecond = seconds > 0 ? (Double(summary.sentEvents) / seconds).rounded() : 0
        self.latency = latency
        self.accepted = tally.accepted
        self.suppressed = tally.suppressed
        self.duplicate = tally.duplicate
        self.rejected = tally.rejected
        self.retryLater = tally.retryLater
        self.unsentRequests = summary.unsentRequests
        let each = processorSeconds * 1e6 / Double(max(1, summary.sentEvents))
        self.generatorMicrosecondsPerEvent = (each * 1000).rounded() / 1000
    }

    /// The figures as text.
    package var lines: [String] {
        var table = TextTable([("", .left), ("", .right)])
        table.add(["events/s", Figure.grouped(Int(self.eventsPerSecond))])
        table.add(["ack p50", Self.milliseconds(self.latency.p50Microseconds)])
        table.add(["ack p99", Self.milliseconds(self.latency.p99Microseconds)])
        table.add(["ack p99.9", Self.milliseconds(self.latency.p999Microseconds)])
        table.add(["ack max", Self.milliseconds(self.latency.maxMicroseconds)])
        table.add(["events sent", Figure.grouped(self.events)])
        for (verdict, count) in self.verdicts where count > 0 || verdict == "ACCEPTED" {
            table.add([verdict, Figure.grouped(count)])
        }
        table.add(["seconds", String(format: "%.3f", self.seconds)])
        table.add([
            "this program's CPU per event",
            String(format: "%.3f µs", self.generatorMicrosecondsPerEvent),
        ])
        guard self.unsentRequests > 0 else { return table.lines() }
        return table.lines() + [
            "\(Figure.grouped(self.unsentRequests)) requests were due and not sent: the server, or "
                + "this machine, does not keep up with --rate \(self.rate ?? 0)"
        ]
    }

    private var verdicts: [(String, Int)] {
        [
            ("ACCEPTED", self.accepted), ("SUPPRESSED", self.suppressed),
            ("DUPLICATE", self.duplicate), ("REJECTED", self.rejected),
            ("RETRY_LATER", self.retryLater),
        ]
    }

    private static func milliseconds(_ microseconds: Double) -> String {
        String(format: "%.3f ms", microseconds / 1000)
    }
}
