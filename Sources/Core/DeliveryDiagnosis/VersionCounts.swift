internal import WireFormat

/// What was sent to a version of a delivery's apps on a platform, and what it reported. `why` and
/// `report` show the versions where one of them differs from the others: then a build may be to
/// blame.
package struct VersionCounts: Codable, Sendable, Equatable {
    /// The platform's name; empty if the events named none.
    package let platform: String
    /// The app's version, or `other` for those without rows of their own.
    package let appVersion: String
    /// Notifications that a push service took.
    package private(set) var sent: UInt64 = 0
    /// What devices reported, whatever became of it.
    package private(set) var reports: UInt64 = 0
    /// Reports that the rules refused.
    package private(set) var refused: UInt64 = 0
    /// Impressions, also of in-app messages.
    package private(set) var impressions: UInt64 = 0
    /// Clicks, also of in-app messages.
    package private(set) var clicks: UInt64 = 0
    /// Opens.
    package private(set) var opens: UInt64 = 0
    /// Whether it differs from the other versions on its platform.
    package private(set) var differs = false

    private struct Place: Hashable {
        let platform: ExactText
        let version: ExactText
    }

    private init(platform: String, appVersion: String) {
        self.platform = platform
        self.appVersion = appVersion
    }

    /// The counts of a delivery's rows, by platform and version; empty if no version differs.
    package static func split(_ rows: [DeliveryAccountLine.Row]) -> [VersionCounts] {
        var counts: [Place: VersionCounts] = [:]
        for row in rows where row.verdict == "version" && !row.delivery.isEmpty {
            let version = row.appVersion ?? ""
            let place = Place(platform: ExactText(row.platform), version: ExactText(version))
            counts[place, default: VersionCounts(platform: row.platform, appVersion: version)]
                .add(row)
        }
        let all = counts.sorted {
            ($0.key.platform, $0.key.version) < ($1.key.platform, $1.key.version)
        }
        let split = all.map { place, own in
            var (own, others) = (own, VersionCounts(platform: own.platform, appVersion: ""))
            for (other, counts) in all
            where other.platform == place.platform && other.version != place.version {
                others.add(counts)
            }
            own.differs = own.differs(from: others)
            return own
        }
        return split.contains(where: \.differs) ? split : []
    }

    private mutating func add(_ row: DeliveryAccountLine.Row) {
        let words = row.detail.split(separator: " ")
        let hits = words.dropFirst().first?.split(separator: ",") ?? []
        if hits.contains(where: { $0.hasPrefix("sen") }) {
            if row.detail == "accepted sent" { self.sent &+= row.events }
            return
        }
        self.reports &+= row.events
        guard words.first == "accepted" else {
            if words.first != "duplicate" { self.refused &+= row.events }
            return
        }
        func has(_ kind: String) -> Bool {
            hits.contains { $0 == kind || $0 == "in_app_" + kind }
        }
        if has("impression") { self.impressions &+= row.events }
        if has("click") { self.clicks &+= row.events }
        if has("open") { self.opens &+= row.events }
    }

    private mutating func add(_ other: VersionCounts) {
        self.sent &+= other.sent
        self.reports &+= other.reports
        self.refused &+= other.refused
        self.impressions &+= other.impressions
        self.clicks &+= other.clicks
        self.opens &+= other.opens
    }

    private var figures: [UInt64] { [self.refused, self.impressions, self.clicks, self.opens] }

    /// Whether a figure is twice or half of what it would be at the rate of the others, and 20 more
    /// or less.
    private func differs(from others: VersionCounts) -> Bool {
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
