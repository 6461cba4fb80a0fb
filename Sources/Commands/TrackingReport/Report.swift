package import DeliveryDiagnosis
internal import TrackingRules

/// The contents of `sightline report` in any format: the funnels of hits.db, largest first.
package struct Report: Sendable, Equatable {
    /// The rows of one kind, up to the query's limit.
    package struct Section<Row: Sendable & Equatable & Encodable>: Sendable, Equatable {
        /// The rows with the most hits, largest first; ties by id.
        package var rows: [Row] = []
        /// The number of rows, including omitted ones.
        package var count = 0
        /// The hits of all rows, including omitted ones.
        package var hits = 0

        /// The number of rows omitted by the limit.
        package var leftOut: Int { self.count - self.rows.count }
    }

    /// The query, for whole steps of the counts.
    package let query: ReportQuery
    /// What to know of its range: where it was widened to a day or a month.
    package let notes: [String]
    /// The funnels of Campaign deliveries.
    package var deliveries = Section<DeliveryFunnel>()
    /// How the in-app messages were used, if requested.
    package var inAppDetails: UseDetails?
    /// How the push notifications were used, if requested.
    package var pushDetails: UseDetails?
    /// The notifications that were never sent, by reason, if requested.
    package var neverSent: NeverSent?
    /// The deliveries of which a version of an app differs, from the ledger, if requested; nil
    /// without a ledger.
    package var versions: [VersionSplit]?
    /// Whether names were added. Every format then has columns for them.
    package let hasNames: Bool
    /// The funnels of Firebase in-app messages.
    package var inAppMessages = Section<InAppFunnel>()
    /// The hits of each delivery over time, if requested.
    package internal(set) var series: ReportSeries?
    /// The findings on deliveries, from the ledger; nil without a ledger.
    package var quality: [DeliveryTrouble]?

    /// The maximum number of lines of data quality.
    package static let maxTroubles = 100

    /// The maximum number of deliveries that are split by version.
    package static let maxSplits = 100

    /// The time range as text, in the query's zone.
    package var range: String {
        func text(_ time: Int64) -> String { ReportTime.text(time, in: self.query.zone) }
        let since = self.query.since.map { "from \(text($0))" }
        let until = self.query.until.map { "until \(text($0))" }
        let range = [since, until].compactMap(\.self).joined(separator: " ")
        let source = self.query.source.map { ", by \($0.name) alone" } ?? ""
        if self.query.isByOccurrence {
            return (range.isEmpty ? "by when it happened" : "happened \(range)") + source
        }
        return (range.isEmpty ? "all that was received" : "received \(range)") + source
    }
}

extension Report.Section: Encodable {
    private enum CodingKeys: CodingKey {
        case rows, count, hits, leftOut
    }

    /// Encodes the rows and the number of omitted ones.
    package func encode(to encoder: any Encoder) throws {
        var section = encoder.container(keyedBy: CodingKeys.self)
        try section.encode(self.rows, forKey: .rows)
        try section.encode(self.count, forKey: .count)
        try section.encode(self.hits, forKey: .hits)
        try section.encode(self.leftOut, forKey: .leftOut)
    }
}

extension Report: Encodable {
    private enum CodingKeys: CodingKey {
        case since, until, notes, deliveries, inAppMessages, inAppDetails, pushDetails, series,
            quality, neverSent, versions
    }

    /// Encodes all sections; missing time bounds are null, and so is a missing ledger.
    package func encode(to encoder: any Encoder) throws {
        var report = encoder.container(keyedBy: CodingKeys.self)
        try report.encode(self.query.since.map(ReportTime.utc), forKey: .since)
        try report.encode(self.query.until.map(ReportTime.utc), forKey: .until)
        try report.encode(self.notes, forKey: .notes)
        try report.encode(self.deliveries, forKey: .deliveries)
        try report.encode(self.inAppMessages, forKey: .inAppMessages)
        try report.encodeIfPresent(self.inAppDetails?.rows, forKey: .inAppDetails)
        try report.encodeIfPresent(self.pushDetails?.rows, forKey: .pushDetails)
        try report.encodeIfPresent(self.neverSent, forKey: .neverSent)
        try report.encodeIfPresent(self.versions, forKey: .versions)
        try report.encodeIfPresent(self.series, forKey: .series)
        try report.encode(self.quality, forKey: .quality)
    }
}
