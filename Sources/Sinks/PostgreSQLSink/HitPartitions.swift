#if PostgreSQL
// The table's partitions, one for a day: created before they are needed, dropped when they are old.
internal import Logging
internal import Pacing

/// What is known of them.
struct HitPartitions {
    private let configuration: PostgreSQLConfiguration
    private let schema: PostgreSQLSchema
    private var days: Set<CalendarDay>?
    /// When the next look is due, and the day of the last one.
    private var due = ContinuousClock.now
    private var lastDay: CalendarDay?

    private static let interval = Duration.seconds(3600)
    private static let pauseAfterFailure = Duration.seconds(60)

    init(_ configuration: PostgreSQLConfiguration) {
        self.configuration = configuration
        self.schema = PostgreSQLSchema(configuration.schema)
    }

    /// Creates the partitions of the days ahead and drops those that are too old, if it is time. A
    /// failure is logged and tried again later: the batch may not need them.
    mutating func maintain(
        _ today: CalendarDay, _ retention: inout RetentionClock,
        _ connection: PostgreSQLConnection, _ logger: Logger?
    ) {
        guard self.configuration.migrates, self.due <= .now || self.lastDay != today else {
            return
        }
        (self.due, self.lastDay) = (.now + Self.interval, today)
        let ahead = (0...self.configuration.aheadDays).map { CalendarDay(today.number + $0) }
        do throws(PostgreSQLError) {
            let days = try self.read(connection).map { Int64($0.number) }
            let stored = RetentionClock.lastDay(of: days)
            let time = retention.time(Int64(today.number), stored: stored)
            try self.ensure(Set(ahead), connection)
            try self.dropOld(time, connection, logger)
        } catch {
            // A connection that is lost is found out by the batch.
            _ = try? connection.run("ROLLBACK")
            self.due = .now + Self.pauseAfterFailure
            logger?.warning(
                "partitions cannot be created or dropped", metadata: ["reason": "\(error)"])
        }
    }

    /// Creates the partitions of some days, unless they are there.
    ///
    /// - Throws: `PostgreSQLError`.
    mutating func ensure(
        _ wanted: Set<CalendarDay>, _ connection: PostgreSQLConnection
    ) throws(PostgreSQLError) {
        guard self.configuration.migrates else { return }
        var days: Set<CalendarDay>
        if let known = self.days { days = known } else { days = try self.read(connection) }
        for day in wanted.subtracting(days).sorted() {
            // Another node may have been faster.
            try connection.run(self.beginning)
            days = try self.read(connection).union(days)
            do throws(PostgreSQLError) {
                if !days.contains(day) {
                    try connection.run(self.schema.partitionAttachment(day))
                }
                try connection.run("COMMIT")
            } catch  where error.state == "42P17" {
                // A partition of an operator's own has the day.
                try connection.run("ROLLBACK")
            }
            days.insert(day)
        }
        self.days = days
    }

    private func read(
        _ connection: PostgreSQLConnection
    ) throws(PostgreSQLError) -> Set<CalendarDay> {
        let rows = try connection.run(
            """
            SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
            WHERE inhparent = '\(self.schema.qualified("stored_hits"))'::regclass
            """)
        return Set(rows.compactMap { $0[0].flatMap(PostgreSQLSchema.day(ofPartition:)) })
    }

    /// All partitions, also those of an operator's own: what stays the same when one is renamed,
    /// and the name as it may stand in a statement.
    ///
    /// - Throws: `PostgreSQLError`.
    func all(
        _ connection: PostgreSQLConnection
    ) throws(PostgreSQLError) -> [(id: String, name: String)] {
        let rows = try connection.run(
            """
            SELECT inhrelid::oid, inhrelid::regclass FROM pg_inherits
            WHERE inhparent = '\(self.schema.qualified("stored_hits"))'::regclass ORDER BY 1
            """)
        return rows.compactMap { row in
            guard let id = row[0], let name = row[1] else { return nil }
            return (id, name)
        }
    }

    private mutating func dropOld(
        _ today: RetentionTime, _ connection: PostgreSQLConnection, _ logger: Logger?
    ) throws(PostgreSQLError) {
        let kept = self.configuration.retentionDays
        guard kept > 0 else { return }
        let old = try self.read(connection).filter {
            today.isOver(Int64($0.number), keeping: Int64(kept))
        }
        for day in old.sorted() {
            let table = self.schema.qualified(PostgreSQLSchema.partition(day))
            try connection.run("\(self.beginning); DROP TABLE IF EXISTS \(table); COMMIT")
            self.days?.remove(day)
            logger?.notice(
                "the hits of a day are deleted from PostgreSQL, as they are too old",
                metadata: ["day": "\(day.text)"])
        }
    }

    /// Begins a change of the tables, which waits for others that change them.
    private var beginning: String {
        "BEGIN; SET LOCAL lock_timeout = \(self.configuration.lockTimeout.milliseconds); "
            + self.schema.lock
    }
}
#endif
