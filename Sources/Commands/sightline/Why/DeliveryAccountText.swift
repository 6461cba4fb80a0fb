internal import DeliveryDiagnosis
internal import TrackingReport
internal import TrackingRules
internal import WireFormat

/// A delivery's account for people: its counts by app and platform, and the findings.
struct DeliveryAccountText {
    let lines: [String]

    private static let columns: [(title: String, alignment: TextTable.Alignment)] = [
        ("app", .left), ("platform", .left), ("events", .right), ("accepted", .right),
        ("duplicate", .right), ("suppressed", .right), ("rejected", .right),
        ("impressions", .right), ("clicks", .right), ("opens", .right),
    ]
    /// The further columns where a sender has reported something.
    private static let sends = ["attempted", "sent", "undelivered", "failed", "skipped"]

    /// The counts of an app on a platform.
    private struct Counts {
        var verdicts: [String: UInt64] = [:]
        var hits: [String: UInt64] = [:]
        var sentAndFailed: UInt64 = 0

        mutating func add(_ row: DeliveryAccountLine.Row) {
            if row.verdict == "sent_and_failed" { self.sentAndFailed &+= row.events }
            let verdict = row.verdict.hasPrefix("suppressed") ? "suppressed" : row.verdict
            guard ["accepted", "duplicate", "suppressed", "rejected"].contains(verdict) else {
                return
            }
            self.verdicts[verdict, default: 0] &+= row.events
            guard verdict == "accepted" else { return }
            for hit in row.detail.split(separator: ",") {
                let kind = hit.hasPrefix("in_app_") ? hit.dropFirst(7) : hit
                self.hits[String(kind), default: 0] &+= row.events
            }
        }

        func cells(hasSends: Bool) -> [String] {
            let kinds = ["impression", "click", "open"]
            let facts = SendFacts(
                sent: self.hits["sent"] ?? 0, failed: self.hits["send_failed"] ?? 0,
                sentAndFailed: self.sentAndFailed)
            let sends = [
                facts.attempted, facts.sent, facts.undelivered, facts.failed,
                self.hits["send_skipped"] ?? 0,
            ]
            let counts =
                [self.verdicts.values.reduce(0, &+)]
                + ["accepted", "duplicate", "suppressed", "rejected"].map { self.verdicts[$0] ?? 0 }
                + kinds.map { self.hits[$0] ?? 0 } + (hasSends ? sends : [])
            return counts.map { Figure.grouped(Int(clamping: $0)) }
        }
    }

    init(_ account: DeliveryAccountLine) {
        // Clients choose the apps' ids: they are told apart by their bytes.
        var counts: [[ExactText]: Counts] = [:]
        for row in account.rows where !row.delivery.isEmpty {
            let place = [row.app, row.platform].map { ExactText($0) }
            counts[place, default: Counts()].add(row)
        }
        let hasSends = account.figures?.hasSends ?? false
        var columns = Self.columns
        if hasSends {
            for title in Self.sends { columns.append((title: title, alignment: .right)) }
        }
        var table = TextTable(columns)
        for (place, counts) in counts.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            let texts = place.map { $0.text.isEmpty ? "-" : $0.text }
            table.add(texts + counts.cells(hasSends: hasSends))
        }
        let tenant = account.tenant.isEmpty ? "" : "  tenant \(account.tenant.printable)"
        var lines = ["delivery \(account.delivery.printable)\(tenant)"]
        if !counts.isEmpty { lines += table.lines().map { "  " + $0 } }
        if let figures = account.figures, hasSends { lines.append("  " + Self.text(figures)) }
        let versions = VersionCounts.split(account.rows)
        let more = SendLines(account.rows).lines + VersionTable(versions).lines
        lines += more.map { "  " + $0.printable }
        for finding in account.findings {
            lines.append(
                "\(Console.coloured(finding.code, .yellow))  \(finding.sentence.printable)")
        }
        if account.findings.isEmpty { lines.append(Console.coloured("nothing is wrong", .green)) }
        if account.isTruncated { lines.append("there are more rows, which are left out") }
        self.lines = lines
    }

    /// What a push service took of what was attempted, and the rates of both.
    private static func text(_ figures: DeliveryFigures) -> String {
        func told(_ count: UInt64?) -> String { Figure.grouped(Int(clamping: count ?? 0)) }
        let rates = [
            ("delivered rate", figures.deliveredRate),
            ("impressions without iOS", figures.impressionsOfDelivered),
            ("open rate", figures.openRate), ("click-through rate", figures.clickThroughRate),
        ].compactMap { name, rate in rate.map { "\(name) \(Figure.percent($0))" } }
        let counts = [
            "delivered \(told(figures.sent))", "attempted \(told(figures.attempted))",
            "undelivered \(told(figures.undelivered))",
        ]
        return (counts + rates).joined(separator: ", ")
    }
}
