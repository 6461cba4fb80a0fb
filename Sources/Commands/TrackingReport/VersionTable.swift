package import DeliveryDiagnosis

/// A delivery's counts by the app's version, for people.
package struct VersionTable {
    /// The table's lines; empty if no version differs.
    package let lines: [String]

    private static let columns: [(title: String, alignment: TextTable.Alignment)] = [
        ("version", .left), ("platform", .left), ("sent", .right), ("reports", .right),
        ("refused", .right), ("impressions", .right), ("clicks", .right), ("opens", .right),
        ("", .left),
    ]

    /// Creates the table of a split by version.
    package init(_ versions: [VersionCounts]) {
        var table = TextTable(Self.columns)
        for version in versions { table.add(Self.cells(of: version)) }
        self.lines = versions.isEmpty ? [] : table.lines()
    }

    /// The table of several deliveries.
    static func table(_ splits: [VersionSplit]) -> DetailTable {
        DetailTable(
            title: "Versions of the apps, where one differs, by the server's ledger",
            columns: [("tenant", .left), ("delivery", .left)] + Self.columns,
            rows: splits.flatMap { split in
                split.versions.map { [split.tenant, split.delivery] + Self.cells(of: $0) }
            })
    }

    private static func cells(of counts: VersionCounts) -> [String] {
        let texts = [counts.appVersion, counts.platform].map { $0.isEmpty ? "-" : $0 }
        let figures = [
            counts.sent, counts.reports, counts.refused, counts.impressions, counts.clicks,
            counts.opens,
        ].map { Figure.grouped(Int(clamping: $0)) }
        return texts + figures + [counts.differs ? "differs" : ""]
    }
}
