internal import AdminProtocol
internal import Foundation
internal import TrackingReport

/// The contents of the screen that `sightline top` draws.
struct TopScreen {
    private let statistics: Statistics
    private let address: String

    private static let sparklineRows = 60
    private static let deliveries = 10
    private static let rejections = 8

    init(_ statistics: Statistics, address: String) {
        self.statistics = statistics
        self.address = address
    }

    /// The lines, without line terminators.
    var lines: [String] {
        [self.heading, ""] + self.figures + [""] + self.sinks + self.deliveries + self.messages
            + self.rejections
    }

    private var heading: String {
        let statistics = self.statistics
        let state =
            statistics.isReady
            ? Console.coloured("takes events", .green)
            : Console.coloured(
                "not ready: " + statistics.notReady.joined(separator: "; "), .yellow)
        let uptime = Figure.duration(statistics.time - statistics.startTime)
        return "Sightline \(statistics.version) at \(self.address): \(state), up \(uptime)"
    }

    // MARK: Figures

    private var figures: [String] {
        let statistics = self.statistics
        let history = statistics.history
        var table = TextTable([("", .left), ("", .left)])
        table.add(["events/s", "\(Figure.rate(self.rates.last ?? 0))  \(self.sparkline)"])
        table.add(["", self.verdicts])
        table.add([
            "ack",
            "p50 \(Figure.seconds(history.ackP50Seconds.last ?? nil))"
                + "  p99 \(Figure.seconds(history.ackP99Seconds.last ?? nil))"
                + "  commit p99 \(Figure.seconds(history.commitP99Seconds.last ?? nil))",
        ])
        table.add([
            "journal",
            Figure.part(statistics.journal.bytes, of: statistics.journal.limitBytes)
                + ", oldest \(Figure.seconds(statistics.journal.oldestAgeSeconds))",
        ])
        table.add(["streams", "\(statistics.streams) on \(statistics.connections) connections"])
        table.add([
            "memory",
            "\(Figure.bytes(statistics.memory.residentBytes)), in flight "
                + Figure.part(
                    statistics.memory.inFlightBytes, of: statistics.memory.inFlightLimitBytes),
        ])
        if !statistics.refusals.isEmpty {
            let refusals = statistics.refusals.map { "\($0.reason) \(Figure.grouped($0.count))" }
            table.add(["refused", refusals.joined(separator: "  ")])
        }
        return table.lines()
    }

    /// The events per second of every row.
    private var rates: [Double] {
        let history = self.statistics.history
        return history.accepted.indices.map { row in
            let columns = [
                history.accepted, history.suppressed, history.duplicate, history.rejected,
                history.retryLater,
            ]
            // The columns come from the server, so their lengths may differ.
            return columns.reduce(0) { $0 + ($1.indices.contains(row) ? $1[row] : 0) }
        }
    }

    private var sparkline: String {
        let rates = self.rates.suffix(Self.sparklineRows)
        let highest = max(1, rates.max() ?? 1)
        let blocks = Array("▁▂▃▄▅▆▇█")
        return String(
            rates.map { rate in
                blocks[min(blocks.count - 1, max(0, Int(rate / highest * Double(blocks.count))))]
            })
    }

    private var verdicts: String {
        let history = self.statistics.history
        let rejected = history.rejected.last ?? 0
        let text = "rejected \(Figure.rate(rejected))"
        return [
            "accepted \(Figure.rate(history.accepted.last ?? 0))",
            "suppressed \(Figure.rate(history.suppressed.last ?? 0))\(self.suppressed)",
            "duplicate \(Figure.rate(history.duplicate.last ?? 0))",
            rejected > 0 ? Console.coloured(text, .red) : text,
            "retry later \(Figure.rate(history.retryLater.last ?? 0))",
        ].joined(separator: "  ")
    }

    /// The suppressed events since the start, by reason.
    private var suppressed: String {
        let counts = self.statistics.events.suppressedBy
        let parts = [
            ("flag off", counts.flagOff), ("flag unknown", counts.flagUnknown),
            ("no consent", counts.consent), ("test", counts.testMessage),
            ("not shown", counts.display),
        ].filter { $0.1 > 0 }.map { "\($0) \(Figure.grouped($1))" }
        return parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    }

    // MARK: Tables

    private var sinks: [String] {
        SinkTable(self.statistics).lines + [""]
    }

    private var deliveries: [String] {
        let rows = self.statistics.deliveries.busiest.filter { !$0.isInApp }.prefix(Self.deliveries)
        guard !rows.isEmpty else { return [] }
        var table = TextTable([
            ("delivery", .left), ("tenant", .left), ("attempted", .right), ("sent", .right),
            ("undelivered", .right), ("delivered rate", .right), ("open rate", .right),
            ("impressions", .right), ("clicks", .right), ("dismissals", .right),
            ("opens", .right), ("iOS impressions", .right), ("clicks", .right),
            ("dismissals", .right), ("opens", .right),
        ])
        for row in rows {
            let sent = row.sent.map { Figure.grouped($0 &+ (row.sentIos ?? 0)) } ?? "-"
            let rates = [row.deliveredRate, row.openRate].map { $0.map(Figure.percent) ?? "-" }
            let counts = [row.attempted, row.undelivered].map { $0.map(Figure.grouped) ?? "-" }
            table.add(
                [row.deliveryId, row.tenant, counts[0], sent, counts[1]] + rates
                    + [
                        row.impressions, row.clicks, row.dismissals, row.opens,
                        row.impressionsIos, row.clicksIos, row.dismissalsIos, row.opensIos,
                    ].map(Figure.grouped))
        }
        return table.lines() + [""]
    }

    private var messages: [String] {
        let rows = self.statistics.deliveries.busiest.filter(\.isInApp).prefix(Self.deliveries)
        guard !rows.isEmpty else { return [] }
        var table = TextTable([
            ("in-app message", .left), ("tenant", .left), ("impressions", .right),
            ("clicks", .right), ("dismissals", .right), ("failed", .right),
        ])
        for row in rows {
            table.add(
                [row.deliveryId, row.tenant]
                    + [
                        row.impressions &+ row.impressionsIos, row.clicks &+ row.clicksIos,
                        row.dismissals, row.displayErrors,
                    ].map(Figure.grouped))
        }
        return table.lines() + [""]
    }

    private var rejections: [String] {
        let rows = self.statistics.rejections.prefix(Self.rejections)
        guard !rows.isEmpty else { return [] }
        var table = TextTable([
            ("last rejected", .left), ("rule", .left), ("events", .right), ("ago", .right),
        ])
        for row in rows {
            table.add([
                row.field, row.rule, Figure.grouped(row.count),
                Figure.duration(self.statistics.time - row.lastTime),
            ])
        }
        return table.lines()
    }
}
