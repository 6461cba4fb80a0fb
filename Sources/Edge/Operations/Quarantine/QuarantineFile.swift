internal import Foundation
internal import GRDB
package import Logging
package import Pacing
internal import Storage
internal import TrackingJournal
package import TrackingRules

/// quarantine.db: the kept events by tenant, and the bytes that each tenant uses.
package struct QuarantineFile: Sendable {
    /// The file's name in the data directory.
    package static let name = "quarantine.db"

    let file: DataFile
    let maxBytes: Int
    private let retention: RowRetention
    /// The version of the program that refused an event, for its row.
    let version: String
    /// The subjects whose events are not kept.
    let forgotten: ForgottenSubjects

    /// A row of the file.
    package struct Row: Sendable, Equatable {
        /// The row's id, which rises with each event.
        package let id: Int64
        /// The event.
        package let event: QuarantinedEvent

        /// Creates a row.
        package init(id: Int64, event: QuarantinedEvent) {
            self.id = id
            self.event = event
        }
    }

    /// Opens the file, creating it if missing.
    ///
    /// - Parameters:
    ///   - version: the program's version.
    ///   - forgotten: the subjects whose events are not kept.
    ///   - retention: decides up to which time events may be deleted.
    /// - Throws: `FileFormatError`, or SQLite's error if the file is unusable.
    package init(
        directory: String, _ configuration: QuarantineConfiguration, version: String,
        forgotten: ForgottenSubjects = ForgottenSubjects(),
        retention: RetentionClock = RetentionClock(.microseconds), logger: Logger?
    ) throws {
        self.file = try DataFile(Self.name, in: directory, format: Self.format, logger: logger)
        self.maxBytes = configuration.maxBytes
        self.retention = RowRetention(
            days: configuration.retainDays, of: "receive_time", in: "events", clock: retention)
        self.version = version
        self.forgotten = forgotten
    }

    /// Adds events, except those of forgotten subjects. Then deletes those that are too old, and
    /// evicts those that exceed the limit.
    ///
    /// - Parameter now: microseconds since 1970.
    /// - Returns: the number of added events, the number of evicted events, and the bytes that the
    ///   file now uses.
    /// - Throws: SQLite's error; then nothing was added.
    func keep(
        _ events: [QuarantinedEvent], now: Int64
    ) async throws -> (kept: Int, evicted: Int, bytes: Int) {
        try await self.file.write { database in
            // Asked before the rows that are added, whose times are those of this clock.
            let times = try self.retention.times(at: now, in: database)
            let insertion = try database.cachedStatement(sql: Self.insertion)
            let kept = events.filter { !$0.isForgotten(by: self.forgotten) }
            for event in kept { try self.insert(event, insertion) }
            for (tenant, added) in Dictionary(grouping: kept, by: \.tenant) {
                try Self.count(added.reduce(0) { $0 + $1.bytes }, of: tenant, in: database)
            }
            try Self.deleteOld(before: times.oldest, in: database)
            let evicted = try self.evict(in: database)
            return (kept.count, evicted, try Self.usedBytes(database))
        }
    }

    private func insert(_ event: QuarantinedEvent, _ insertion: Statement) throws {
        try insertion.execute(arguments: [
            event.tenant, event.receiveTime, "\(event.verdict.name)", event.violations.lines,
            event.appID, event.deliveryID, self.version, event.bytes, Data(event.event),
        ])
    }

    /// The next rows after `id` that match a filter, as many as are judged together.
    ///
    /// - Throws: SQLite's error.
    package func rows(
        _ filter: QuarantineFilter, after id: Int64, through last: Int64
    ) async throws -> [Row] {
        try await self.file.read { database in
            try Self.rows(filter, after: id, through: last, in: database)
        }
    }

    /// The id of the newest row; 0 if there is none.
    ///
    /// - Throws: SQLite's error.
    package func lastID() async throws -> Int64 {
        try await self.file.read { try Self.lastID(in: $0) }
    }

    /// Deletes rows with a final verdict, and updates the verdicts of rows that were refused again.
    ///
    /// - Throws: SQLite's error.
    package func settle(_ settled: [Row], refused: [Row]) async throws {
        try await self.file.write { database in
            try Self.delete(settled.map(\.id), in: database)
            let update = try database.cachedStatement(sql: Self.update)
            for row in refused {
                try update.execute(arguments: [
                    "\(row.event.verdict.name)", row.event.violations.lines, self.version, row.id,
                ])
            }
        }
    }
}
