internal import Foundation
package import GRDB

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

    /// Counts the hits that `query` selects; nil if there are none.
    ///
    /// - Throws: SQLite's error if hits.db cannot be read.
    package init?(_ query: ReportQuery, in database: Database) throws {
        let arguments = query.arguments
        let bounds = try Row.fetchOne(
            database,
            sql: """
                SELECT min(receive_time) AS first, max(receive_time) AS last FROM hits
                WHERE \(ReportQuery.condition)
                """, arguments: arguments)
        guard let bounds, let first = bounds["first"] as Int64?, let last = bounds["last"] as Int64?
        else { return nil }
        self.stepSeconds = Self.stepSeconds(from: first, to: last)
        let width = self.stepSeconds * 1_000_000
        let origin = first / width
        self.steps = (0...(last / width - origin)).map { Step(start: (origin + $0) * width) }
        let rows = try Row.fetchCursor(
            database, sql: Self.selection, arguments: arguments + ["width": width])
        while let row = try rows.next() {
            let index = Int((row["step"] as Int64) - origin)
            // Both reads are in one transaction, so that no later hit can lie beyond the end.
            guard self.steps.indices.contains(index) else { continue }
            self.steps[index].impressions = row["impressions"]
            self.steps[index].clicks = row["clicks"]
            self.steps[index].opens = row["opens"]
            self.steps[index].inApp = row["in_app"]
        }
    }

    /// The smallest width with at most `maxSteps` steps; above the largest unit, a multiple of it.
    static func stepSeconds(from first: Int64, to last: Int64) -> Int64 {
        let fits = { (seconds: Int64) in
            last / (seconds * 1_000_000) - first / (seconds * 1_000_000) < Int64(Self.maxSteps)
        }
        if let width = Self.widths.first(where: fits) { return width }
        var seconds = 28 * Self.day
        while !fits(seconds) { seconds *= 2 }
        return seconds
    }

    private static let selection = """
        SELECT receive_time / :width AS step, sum(kind = 'impression') AS impressions,
            sum(kind = 'click') AS clicks, sum(kind = 'open') AS opens,
            sum(kind NOT IN ('impression', 'click', 'open')) AS in_app
        FROM hits WHERE \(ReportQuery.condition) GROUP BY step
        """
}
