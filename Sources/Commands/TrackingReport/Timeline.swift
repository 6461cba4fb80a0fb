package import GRDB
internal import TrackingRules

/// Hits over time, by the time they were received, in steps of equal width.
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

    /// The width of a step in seconds.
    package var stepSeconds: Int64
    /// All steps from the first hit to the last, including empty ones.
    package var steps: [Step]

    private static let minute: Int64 = 60
    private static let day: Int64 = 86_400
    private static let widths: [Int64] = [
        1, 5, 15, Self.minute, 5 * Self.minute, 15 * Self.minute, 60 * Self.minute,
        180 * Self.minute, 360 * Self.minute, Self.day, 7 * Self.day, 28 * Self.day,
    ]

    /// The maximum number of hits read one by one, for steps of less than an hour.
    private static let maxReadHits = 100_000

    /// Counts the hits that `query` selects; nil if there are none. In a large database the
    /// shortest step is an hour.
    ///
    /// - Throws: SQLite's error if hits.db cannot be read, `RowDecodingError` if it has values that
    ///   no build has written.
    package init?(_ query: ReportQuery, in database: Database) throws {
        let query = query.inWholeHours
        let bounds = try Row.fetchOne(
            database,
            sql: """
                SELECT min(first_time) AS first, max(last_time) AS last FROM counts
                WHERE \(ReportQuery.condition)
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
        let isRead = try Self.areFewHits(in: database)
        self.stepSeconds = Self.stepSeconds(
            from: first, to: last, atLeast: isRead ? 1 : 60 * Self.minute)
        let width = self.stepSeconds * 1_000_000
        let origin = first / width
        self.steps = (0...(last / width - origin)).map { Step(start: (origin + $0) * width) }
        let rows = try Row.fetchCursor(
            database, sql: isRead ? Self.hitSelection : Self.countSelection,
            arguments: query.arguments + ["width": width])
        while let row = try rows.next() {
            let index = Int(try row.decode(Int64.self, forColumn: "step") &- origin)
            // Both reads are in one transaction, so that no later hit can lie beyond the end.
            guard self.steps.indices.contains(index) else { continue }
            self.steps[index].impressions = try row.decode(Int.self, forColumn: "impressions")
            self.steps[index].clicks = try row.decode(Int.self, forColumn: "clicks")
            self.steps[index].opens = try row.decode(Int.self, forColumn: "opens")
            self.steps[index].inApp = try row.decode(Int.self, forColumn: "in_app")
        }
    }

    /// Whether hits can be read one by one: they are few, and none has been deleted.
    private static func areFewHits(in database: Database) throws -> Bool {
        let stored = try Int.fetchOne(database, sql: "SELECT sum(hits) FROM partitions") ?? 0
        let counted = try Int.fetchOne(database, sql: "SELECT sum(hits) FROM counts") ?? 0
        return stored <= Self.maxReadHits && stored == counted
    }

    /// The smallest width with at most `maxSteps` steps; above the largest unit, a multiple of it.
    static func stepSeconds(
        from first: Int64, to last: Int64, atLeast least: Int64 = 1
    ) -> Int64 {
        let fits = { (seconds: Int64) -> Bool in
            let width = seconds * 1_000_000
            return last / width - first / width < Int64(Self.maxSteps)
        }
        if let width = Self.widths.first(where: { $0 >= least && fits($0) }) { return width }
        var seconds = 28 * Self.day
        while !fits(seconds) { seconds *= 2 }
        return seconds
    }

    private static let hitSelection = """
        SELECT receive_time / :width AS step, \(Self.sums("1"))
        FROM (SELECT *, receive_time / \(ReportQuery.hour) AS hour FROM stored_hits)
        WHERE \(ReportQuery.condition) GROUP BY step
        """

    private static let countSelection = """
        SELECT hour * \(ReportQuery.hour) / :width AS step, \(Self.sums("hits"))
        FROM counts WHERE \(ReportQuery.condition) GROUP BY step
        """

    private static func sums(_ hits: String) -> String {
        let steps: [(String, HitKind)] = [
            ("impressions", .impression), ("clicks", .click), ("opens", .open),
        ]
        let kinds = steps.map { "\($0.1.rawValue)" }.joined(separator: ", ")
        var sums: [String] = []
        for (name, kind) in steps {
            sums.append("sum(\(hits) * (kind = \(kind.rawValue))) AS \(name)")
        }
        sums.append("sum(\(hits) * (kind NOT IN (\(kinds)))) AS in_app")
        return sums.joined(separator: ", ")
    }
}
