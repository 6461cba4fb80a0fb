package import GRDB
internal import TrackingRules

/// Hits that devices report over time, by the time they were received or happened, in steps of
/// equal width, or of whole months where hits are counted by the month.
package struct Timeline: Sendable, Equatable {
    /// The hits within one step.
    package struct Step: Sendable, Equatable {
        /// The step's start, in microseconds since 1970.
        package var start: Int64
        /// Impressions of push notifications.
        package var impressions = 0
        /// Clicks.
        package var clicks = 0
        /// Opens.
        package var opens = 0
        /// Hits of in-app messages, of Campaign and Firebase.
        package var inApp = 0

        /// The sum of all hits.
        package var total: Int { self.impressions + self.clicks + self.opens + self.inApp }
    }

    /// The maximum number of steps.
    package static let maxSteps = 60

    /// The width of the steps.
    package var scale: TimelineScale
    /// The zone in which times are shown.
    package var zone: ReportZone
    /// All steps from the first hit to the last, including empty ones.
    package var steps: [Step]

    /// Selects the hits of a query that devices report. What was sent, all at once, would leave
    /// nothing else to see.
    private static let condition =
        "NOT (\(ReportQuery.isSend)) AND \(ReportQuery.condition)"

    /// The maximum number of hits read one by one, for steps of less than an hour.
    private static let maxReadHits = 100_000

    /// Counts the hits that `query` selects; nil if there are none. In a large database the
    /// shortest step is an hour, for older hits a day or a month.
    ///
    /// - Throws: SQLite's error if hits.db cannot be read, `RowDecodingError` if it has values that
    ///   no build has written.
    package init?(_ query: ReportQuery, in database: Database) throws {
        query.prepare(database)
        let counted = try query.steps(in: database)
        let query = query.whole(by: counted)
        guard let (first, last) = try Self.bounds(query, in: database) else { return nil }
        let isRead = try Self.areFewHits(query, in: database)
        let scale = TimelineScale(
            from: first, to: last, atLeast: isRead ? nil : counted.step(at: first),
            maxSteps: Self.maxSteps)
        self.scale = scale
        self.zone = query.zone
        let origin = scale.index(of: first)
        self.steps = (origin...scale.index(of: last)).map { Step(start: scale.start(of: $0)) }
        let rows = try Row.fetchCursor(
            database, sql: isRead ? Self.hitSelection(query) : Self.countSelection(query),
            arguments: query.arguments + ["width": scale.unit])
        while let row = try rows.next() {
            let time = try row.decode(Int64.self, forColumn: "step") &* scale.unit
            // A step's first hour may be before the first hit, but it is in the same step.
            let index = Int(truncatingIfNeeded: scale.index(of: time) &- origin)
            // Both reads are in one transaction, so that no later hit can lie beyond the end.
            guard self.steps.indices.contains(index) else { continue }
            self.steps[index].impressions += try row.decode(Int.self, forColumn: "impressions")
            self.steps[index].clicks += try row.decode(Int.self, forColumn: "clicks")
            self.steps[index].opens += try row.decode(Int.self, forColumn: "opens")
            self.steps[index].inApp += try row.decode(Int.self, forColumn: "in_app")
        }
    }

    /// The times of the first hit and of the last; nil if there are none.
    private static func bounds(
        _ query: ReportQuery, in database: Database
    ) throws -> (first: Int64, last: Int64)? {
        let bounds = try Row.fetchOne(
            database,
            sql: """
                SELECT min(first_time) AS first, max(last_time) AS last FROM \(query.counts)
                WHERE \(Self.condition)
                """, arguments: query.arguments)
        guard let first = try bounds?.decode(Int64?.self, forColumn: "first"),
            let last = try bounds?.decode(Int64?.self, forColumn: "last")
        else { return nil }
        // No build writes such times, but a file can be changed by hand.
        guard 0 <= first, first <= last else {
            throw DatabaseError(
                message: "the table counts has hits from \(first) to \(last) µs since 1970: no "
                    + "build has written that")
        }
        return (first, last)
    }

    /// Whether hits can be read one by one: they are few, and none has been deleted.
    private static func areFewHits(_ query: ReportQuery, in database: Database) throws -> Bool {
        let stored = try Int.fetchOne(database, sql: "SELECT sum(hits) FROM partitions") ?? 0
        guard stored <= Self.maxReadHits else { return false }
        if query.readsHits { return true }
        // Each row has a hit at least: with more rows than these, more were counted.
        let counted = try Int.fetchOne(
            database,
            sql: "SELECT sum(hits) FROM (SELECT hits FROM counts LIMIT \(Self.maxReadHits + 1))")
        return stored == counted ?? 0
    }

    private static func hitSelection(_ query: ReportQuery) -> String {
        """
        SELECT time / :width AS step, \(Self.sums("1", of: ReportQuery.countedKind))
        FROM \(query.hits) WHERE \(Self.condition) GROUP BY step
        """
    }

    private static func countSelection(_ query: ReportQuery) -> String {
        """
        SELECT hour * \(ReportQuery.hour) / :width AS step, \(Self.sums("hits", of: "kind"))
        FROM \(query.counts) WHERE \(Self.condition) GROUP BY step
        """
    }

    private static func sums(_ hits: String, of kind: String) -> String {
        let steps: [(String, HitKind)] = [
            ("impressions", .impression), ("clicks", .click), ("opens", .open),
        ]
        // What showed nothing is no impression, and nothing of an in-app message either.
        let kinds = (["0"] + steps.map { "\($0.1.rawValue)" }).joined(separator: ", ")
        var sums: [String] = []
        for (name, step) in steps {
            sums.append("sum(\(hits) * (\(kind) = \(step.rawValue))) AS \(name)")
        }
        sums.append("sum(\(hits) * (\(kind) NOT IN (\(kinds)))) AS in_app")
        return sums.joined(separator: ", ")
    }
}
