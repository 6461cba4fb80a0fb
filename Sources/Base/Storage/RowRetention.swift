package import GRDB
package import Pacing
internal import Synchronization

/// Decides which rows of a `DataFile` are too old, by the retention clock. Before its first answer
/// it reads the days of the rows: the clock may be wrong already when the process starts.
package final class RowRetention: Sendable {
    private let clock: Mutex<RetentionClock>
    private let span: Int64
    private let selectDays: String

    /// The time by which to store rows, and the oldest time of rows that are kept, in microseconds
    /// since 1970.
    package struct Times: Sendable {
        /// The time of rows that are stored now.
        package let latest: Int64
        /// Rows of an earlier time are too old.
        package let oldest: Int64
    }

    /// Creates a retention of rows for so many days.
    ///
    /// - Parameters:
    ///   - column: the column with a row's time, in microseconds since 1970.
    ///   - clock: counts in microseconds.
    package init(days: Int, of column: String, in table: String, clock: RetentionClock) {
        let day = RetentionClock.Unit.microseconds.rawValue
        self.clock = Mutex(clock)
        self.span = Int64(days) * day
        self.selectDays = "SELECT DISTINCT \(column) / \(day) FROM \(table)"
    }

    /// The times at `now`, in microseconds since 1970.
    ///
    /// - Throws: SQLite's error.
    package func times(at now: Int64, in database: Database) throws -> Times {
        let stored = try self.lastTime(in: database)
        let time = self.clock.withLock { $0.time(now, stored: stored) }
        return Times(latest: time.latest, oldest: time.oldest(keeping: self.span))
    }

    /// The last day that is stored, by which a clock that jumped is recognized.
    private func lastTime(in database: Database) throws -> Int64? {
        guard self.clock.withLock({ $0.isNew }) else { return nil }
        let days = try Int64.fetchAll(database, sql: self.selectDays)
        let day = RetentionClock.Unit.microseconds.rawValue
        return RetentionClock.lastDay(of: days).map { $0 &* day }
    }
}
