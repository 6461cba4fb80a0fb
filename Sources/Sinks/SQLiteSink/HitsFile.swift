internal import Foundation
internal import GRDB
internal import Logging
internal import Pacing
internal import SinkKit
internal import Storage
internal import Synchronization
internal import TrackingRules
internal import WireFormat

/// hits.db for the sink: each call that changes it is one transaction.
final class HitsFile: Sendable {
    private let file: DataFile
    private let configuration: SQLiteConfiguration
    private let logger: Logger?
    private let today: @Sendable () -> Int
    private let state: State
    /// Whether a process before this one, or an erasure that failed, may have left rows that it has
    /// overwritten.
    private let mayHaveLeftRows = Mutex(true)

    /// The state in memory. `@unchecked Sendable`: used only on the file's queue.
    private final class State: @unchecked Sendable {
        /// Nil while a transaction is open, and after one that failed: its caches may then differ
        /// from the database.
        private var writer: HitWriter?
        private var borrowed: HitWriter?
        var readAhead = PartitionReadAhead()
        var retention: HitRetention

        init(_ retention: HitRetention) { self.retention = retention }

        /// The writer, until the transaction is committed.
        func borrow(
            in database: Database, _ configuration: SQLiteConfiguration
        ) throws -> HitWriter {
            let writer = try self.writer ?? HitWriter(in: database, configuration)
            (self.writer, self.borrowed) = (nil, writer)
            return writer
        }

        /// Keeps the writer for the next transaction.
        func giveBack() { (self.writer, self.borrowed) = (self.borrowed, nil) }
    }

    /// - Parameters:
    ///   - today: the day, since 1970.
    ///   - retention: decides up to which day hits and their facts may be deleted.
    /// - Throws: `FileFormatError`, or SQLite's error if the file is unusable.
    init(
        path: String, _ configuration: SQLiteConfiguration, busyTimeout: Duration,
        logger: Logger?, today: @escaping @Sendable () -> Int, retention: RetentionClock
    ) throws {
        self.file = try DataFile(
            path: path, format: SQLiteSink.format, busyTimeout: busyTimeout,
            group: configuration.group.isEmpty ? nil : UserGroup(named: configuration.group),
            logger: logger)
        self.configuration = configuration
        self.logger = logger
        self.today = today
        self.state = State(HitRetention(retention))
    }

    /// Changes the file in one transaction.
    func change<Value: Sendable>(
        _ body: @escaping @Sendable (HitWriter, Database) throws -> Value
    ) async throws -> Value {
        let (state, configuration, today) = (self.state, self.configuration, self.today)
        return try await self.file.write { database in
            let writer = try state.borrow(in: database, configuration)
            writer.setToday(today(), by: &state.retention)
            database.afterNextTransaction { _ in state.giveBack() }
            return try body(writer, database)
        }
    }

    /// Reads the file.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await self.file.read(body)
    }

    /// Truncates the write-ahead log.
    func emptyLog() async throws { try await self.file.emptyLog() }

    // MARK: Batches

    /// Inserts a batch. A hit that is delivered again gets no second row, because its key is in the
    /// index. The cursor cannot decide that: a journal that has lost its newest record uses its
    /// sequence again.
    ///
    /// - Returns: the partition that has to be dropped, if any.
    /// - Throws: `DamagedPayload`, or SQLite's error.
    func write(_ hits: HitBatch) async throws -> HitPartitions.Partition? {
        let configuration = self.configuration
        return try await self.change { writer, database in
            try writer.write(hits, in: database)
            try database.cachedStatement(
                sql: """
                    INSERT INTO cursor (journal, sequence) VALUES (?, ?)
                    ON CONFLICT DO UPDATE SET sequence = max(sequence, excluded.sequence)
                    """
            ).execute(arguments: [hits.journal, hits.sequence])
            return try writer.duePartition(configuration, in: database)
        }
    }

    // MARK: Retention

    /// Reads some of a partition that has to be dropped, and drops it once all is read. A failure
    /// is logged, and the next batch tries again.
    func drop(_ partition: HitPartitions.Partition) async {
        let (state, configuration) = (self.state, self.configuration)
        do {
            guard try await self.file.read({ try state.readAhead.read(partition, in: $0) }) else {
                return
            }
            let (dropped, duration) = try await self.change { writer, database in
                let start = ContinuousClock.now
                let dropped = try writer.dropOldest(configuration, in: database)
                return (dropped, start.duration(to: .now))
            }
            guard let dropped else { return }
            self.logger?.notice(
                "hits are deleted from hits.db, as they are too old or too many",
                metadata: [
                    "received_on": "\(dropped.dayText)", "hits": .stringConvertible(dropped.hits),
                    "milliseconds": .stringConvertible(Int(duration / .milliseconds(1))),
                ])
        } catch {
            self.logger?.warning(
                "old hits cannot be deleted from hits.db", metadata: ["reason": "\(error)"])
        }
    }
}

extension HitsFile {
    /// An erasure deletes all rows that were left, and only after its own are overwritten.
    func beginErasure() { self.mayHaveLeftRows.withLock { $0 = false } }

    /// What an erasure that failed has overwritten goes with the next batches.
    func endErasureEarly() { self.mayHaveLeftRows.withLock { $0 = true } }

    /// Deletes some of the rows that were overwritten and about to be deleted. A failure is logged,
    /// and the next batch tries again.
    func deleteLeftRows() async {
        guard self.mayHaveLeftRows.withLock({ $0 }) else { return }
        do {
            let last = try await self.delete(before: .end)
            if last == nil { self.mayHaveLeftRows.withLock { $0 = false } }
        } catch {
            self.logger?.warning(
                "rows of a forgotten subject are empty, but cannot be deleted from hits.db",
                metadata: ["reason": "\(error)"])
        }
    }
}

extension HitPartitions.Partition {
    /// The day, such as 2026-11-23.
    fileprivate var dayText: String {
        Date(timeIntervalSince1970: Double(self.day) * 86_400)
            .formatted(.iso8601.year().month().day())
    }
}
