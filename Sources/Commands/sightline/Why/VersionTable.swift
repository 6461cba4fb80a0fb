internal import DeliveryDiagnosis
internal import TrackingReport
internal import WireFormat

/// A delivery's counts by the app's version, for people. It is shown where a version differs from
/// the others on its platform: then a build may be to blame.
struct VersionTable {
    /// The table's lines; empty if no version differs.
    let lines: [String]

    private struct Place: Hashable {
        let platform: ExactText
        let version: ExactText
    }

    /// The counts of a version.
    private struct Counts {
        var sent: UInt64 = 0
        var reports: UInt64 = 0
        /// Refused reports, impressions, clicks and opens.
        var figures: [UInt64] = [0, 0, 0, 0]

        mutating func add(_ row: DeliveryAccountLine.Row) {
            let words = row.detail.split(separator: " ")
            let hits = words.dropFirst().first?.split(separator: ",") ?? []
            if hits.contains(where: { $0.hasPrefix("sen") }) {
                if row.detail == "accepted sent" { self.sent += row.events }
                return
            }
            self.reports += row.events
            guard let verdict = words.first, verdict == "accepted" else {
                if words.first != "duplicate" { self.figures[0] += row.events }
                return
            }
            for (place, kind) in ["impression", "click", "open"].enumerated()
            where hits.contains(where: { $0 == kind || $0 == "in_app_" + kind }) {
                self.figures[place + 1] += row.events
            }
        }

        static func + (left: Counts, right: Counts) -> Counts {
            Counts(
                sent: left.sent + right.sent, reports: left.reports + right.reports,
                figures: zip(left.figures, right.figures).map(+))
        }

        /// Whether a figure is twice or half of what it were at the rate of the others, and 20 more
        /// or less.
        func differs(from others: Counts) -> Bool {
            let (whole, ofOthers) =
                self.sent > 0 && others.sent > 0
                ? (self.sent, others.sent) : (self.reports, others.reports)
            guard whole > 0, ofOthers > 0 else { return false }
            return zip(self.figures, others.figures).contains { figure, other in
                let expected = Double(other) * Double(whole) / Double(ofOthers)
                let found = Double(figure)
                return abs(found - expected) >= Double(DeliveryDiagnosis.fewReports)
                    && (found >= 2 * expected || 2 * found <= expected)
            }
        }
    }

    private static let columns: [(title: String, alignment: TextTable.Alignment)] = [
        ("version", .left), ("platform", .left), ("sent", .right), ("reports", .right),
        ("refused", .right), ("impressions", .right), ("clicks", .right), ("opens", .right),
        ("", .left),
    ]

    init(_ rows: [DeliveryAccountLine.Row]) {
        var counts: [Place: Counts] = [:]
        for row in rows where row.verdict == "version" && !row.delivery.isEmpty {
            let place = Place(
                platform: ExactText(row.platform), version: ExactText(row.appVersion ?? ""))
            counts[place, default: Counts()].add(row)
        }
        let differing = counts.filter { place, own in
            let others = counts.filter {
                $0.key.platform == place.platform && $0.key.version != place.version
            }
            return own.differs(from: others.values.reduce(Counts(), +))
        }
        guard !differing.isEmpty else {
            self.lines = []
            return
        }
        var table = TextTable(Self.columns)
        let sorted = counts.sorted {
            ($0.key.platform, $0.key.version) < ($1.key.platform, $1.key.version)
        }
        for (place, own) in sorted {
            let texts = [place.version.text, place.platform.text].map { $0.isEmpty ? "-" : $0 }
            let figures = ([own.sent, own.reports] + own.figures).map {
                Figure.grouped(Int(clamping: $0))
            }
            table.add(texts + figures + [differing[place] == nil ? "" : "differs"])
        }
        self.lines = table.lines()
    }
}
