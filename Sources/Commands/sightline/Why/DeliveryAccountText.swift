internal import DeliveryDiagnosis
internal import TrackingReport
internal import WireFormat

/// A delivery's account for people: its counts by app and platform, and the findings.
struct DeliveryAccountText {
    let lines: [String]

    private static let columns: [(title: String, alignment: TextTable.Alignment)] = [
        ("app", .left), ("platform", .left), ("events", .right), ("accepted", .right),
        ("duplicate", .right), ("suppressed", .right), ("rejected", .right),
        ("impressions", .right), ("clicks", .right), ("opens", .right),
    ]

    /// The counts of an app on a platform.
    private struct Counts {
        var verdicts: [String: UInt64] = [:]
        var hits: [String: UInt64] = [:]

        mutating func add(_ row: DeliveryAccountLine.Row) {
            let verdict = row.verdict.hasPrefix("suppressed") ? "suppressed" : row.verdict
            guard ["accepted", "duplicate", "suppressed", "rejected"].contains(verdict) else {
                return
            }
            self.verdicts[verdict, default: 0] += row.events
            guard verdict == "accepted" else { return }
            for hit in row.detail.split(separator: ",") {
                let kind = hit.hasPrefix("in_app_") ? hit.dropFirst(7) : hit
                self.hits[String(kind), default: 0] += row.events
            }
        }

        var cells: [String] {
            let counts =
                [self.verdicts.values.reduce(0, +)]
                + ["accepted", "duplicate", "suppressed", "rejected"].map { self.verdicts[$0] ?? 0 }
                + ["impression", "click", "open"].map { self.hits[$0] ?? 0 }
            return counts.map { Figure.grouped(Int(clamping: $0)) }
        }
    }

    init(_ account: DeliveryAccountLine) {
        var counts: [[String]: Counts] = [:]
        for row in account.rows where !row.delivery.isEmpty {
            counts[[row.app, row.platform], default: Counts()].add(row)
        }
        var table = TextTable(Self.columns)
        for (place, counts) in counts.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            table.add(place.map { $0.isEmpty ? "-" : $0 } + counts.cells)
        }
        let tenant = account.tenant.isEmpty ? "" : "  tenant \(account.tenant.printable)"
        var lines = ["delivery \(account.delivery.printable)\(tenant)"]
        if !counts.isEmpty { lines += table.lines().map { "  " + $0 } }
        for finding in account.findings {
            lines.append(
                "\(Console.coloured(finding.code, .yellow))  \(finding.sentence.printable)")
        }
        if account.findings.isEmpty { lines.append(Console.coloured("nothing is wrong", .green)) }
        if account.isTruncated { lines.append("there are more rows, which are left out") }
        self.lines = lines
    }
}
