// What `sightline report` shows, in whatever form.

/// The funnels that hits.db holds, the largest first.
package struct Report: Sendable, Equatable {
    /// Rows of one kind, at most as many as the query allows.
    package struct Section<Row: Sendable & Equatable & Encodable>: Sendable, Equatable {
        /// The rows with the most hits, the largest first; ties in the order of their ids.
        package var rows: [Row] = []
        /// How many rows there are, those left out too.
        package var count = 0
        /// The hits of all rows, those left out too.
        package var hits = 0

        /// How many rows the limit left out.
        package var leftOut: Int { self.count - self.rows.count }
    }

    /// What was asked for.
    package let query: ReportQuery
    /// Campaign's deliveries.
    package var deliveries = Section<DeliveryFunnel>()
    /// Firebase's in-app messages.
    package var inAppMessages = Section<InAppFunnel>()

    /// The range in words, in UTC.
    package var range: String {
        let since = self.query.since.map { "from \(ReportTime.utc($0))" }
        let until = self.query.until.map { "until \(ReportTime.utc($0))" }
        let range = [since, until].compactMap(\.self).joined(separator: " ")
        return range.isEmpty ? "all that was received" : "received \(range)"
    }
}

extension Report.Section: Encodable {
    private enum CodingKeys: CodingKey {
        case rows, count, hits, leftOut
    }

    /// Writes the rows, and how many are left out.
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
        case since, until, deliveries, inAppMessages
    }

    /// Writes both sections; a bound that was not asked for is null.
    package func encode(to encoder: any Encoder) throws {
        var report = encoder.container(keyedBy: CodingKeys.self)
        try report.encode(self.query.since.map(ReportTime.utc), forKey: .since)
        try report.encode(self.query.until.map(ReportTime.utc), forKey: .until)
        try report.encode(self.deliveries, forKey: .deliveries)
        try report.encode(self.inAppMessages, forKey: .inAppMessages)
    }
}
