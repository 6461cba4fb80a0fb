#if PostgreSQL
// Writes batches into the database, on a queue of its own.
internal import Logging
internal import Pacing
internal import SinkKit

/// The connection, and what is known of the database behind it.
actor HitStore {
    private let configuration: PostgreSQLConfiguration
    private let url: PostgreSQLURL
    private let schema: PostgreSQLSchema
    private let logger: Logger?
    private let today: @Sendable () -> CalendarDay
    private var retention: RetentionClock
    /// Waiting for the server blocks.
    private let executor = QueueExecutor(label: "sightline.sink.postgresql")
    /// The store's own queue.
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        self.executor.asUnownedSerialExecutor()
    }

    private var connection: PostgreSQLConnection?
    private var partitions: HitPartitions
    /// The cursors that were read or written over this connection, by journal.
    private var cursors: [String: HitCursor] = [:]
    private var rows: HitRows
    private var hasStage = false
    /// How many batches go through the stage before the direct way is tried again.
    private var stagedBatches = 0
    /// How many rows a transaction may have, while the server is too slow for whole batches.
    private var maxRows = Int.max
    /// What the server has refused, by tenant.
    private var refusals: TenantRefusals

    /// A duplicate met on the direct way costs a transaction; so the next batches do not take it.
    private static let stagedAfterDuplicate = 100
    private static let fewestRows = 100

    init(
        _ configuration: PostgreSQLConfiguration, _ url: PostgreSQLURL, logger: Logger?,
        today: @escaping @Sendable () -> CalendarDay, retention: RetentionClock
    ) {
        self.configuration = configuration
        self.url = url
        self.schema = PostgreSQLSchema(configuration.schema)
        self.logger = logger
        self.today = today
        self.retention = retention
        self.partitions = HitPartitions(configuration)
        self.rows = HitRows(lateDays: configuration.lateDays)
        self.refusals = TenantRefusals(limit: configuration.maxRefused)
    }

    /// Stores a batch.
    ///
    /// - Parameter confirmed: the sequence that the database has had; nil if that is not known.
    func deliver(_ hits: HitBatch, confirmed: Int64?, _ delivery: DeliveryDeadline) -> SinkAnswer {
        do {
            // Read it all first: a batch that cannot be read needs no server.
            try self.rows.encode(hits, after: 0)
            let connection = try self.usableConnection(delivery)
            let cursor = try self.cursor(of: hits, connection)
            if !hits.isReplay, let confirmed, (cursor?.sequence ?? 0) < confirmed {
                self.connection = nil
                return .dataLoss(
                    reason: "the database has this journal up to \(cursor?.sequence ?? 0), but "
                        + "\(confirmed) was committed")
            }
            return SinkAnswer(rejected: try self.store(hits, cursor, connection))
        } catch {
            if let error = error as? PostgreSQLError { self.endSession(error) }
            return SinkAnswer(failure: error)
        }
    }

    /// Deletes a subject's rows of the next partition.
    ///
    /// - Returns: the result of all, if there is none left.
    func erase(
        _ erasure: RowErasure, _ delivery: DeliveryDeadline
    ) -> (erasure: RowErasure, result: Erasure?) {
        var erasure = erasure
        do {
            let connection = try self.usableConnection(delivery)
            let isDone = try !erasure.eraseNext(of: self.partitions.all(connection), connection)
            return (erasure, isDone ? .erased(erasure.erased) : nil)
        } catch {
            if let error = error as? PostgreSQLError { self.endSession(error) }
            return (erasure, .failed("\(error)"))
        }
    }

    /// Writes a batch and rolls it back, over a connection of its own.
    ///
    /// - Throws: `PostgreSQLError`, or `DamagedPayload`.
    func rehearse(_ hits: HitBatch) throws {
        try HitRehearsal(configuration: self.configuration, url: self.url).run(hits)
    }

    // MARK: The session

    /// Ends the session: whatever failed, the next batch looks at everything anew.
    private func endSession(_ error: PostgreSQLError) {
        self.connection = nil
        if error.isTimeout {
            self.maxRows = max(Self.fewestRows, min(self.maxRows, self.rows.rows.count) / 2)
        }
    }

    private func usableConnection(_ delivery: DeliveryDeadline) throws -> PostgreSQLConnection {
        if let connection = self.connection {
            connection.delivery = delivery
            self.partitions.maintain(self.today(), &self.retention, connection, self.logger)
            return connection
        }
        let connection = try PostgreSQLConnection.open(self.configuration, self.url, delivery)
        (self.cursors, self.hasStage) = ([:], false)
        try HitSession(self.configuration).begin(connection)
        self.partitions = HitPartitions(self.configuration)
        self.partitions.maintain(self.today(), &self.retention, connection, self.logger)
        self.connection = connection
        return connection
    }

    private func cursor(
        of hits: HitBatch, _ connection: PostgreSQLConnection
    ) throws -> HitCursor? {
        if hits.isReplay { return nil }
        if let cursor = self.cursors[hits.journal] { return cursor }
        let rows = try connection.run(
            "SELECT sequence, hit_id FROM \(self.schema.qualified("cursor")) "
                + "WHERE journal = \(try connection.literal(hits.journal))")
        guard let row = rows.first, let sequence = row[0].flatMap({ Int64($0) }) else {
            return nil
        }
        let cursor = HitCursor(sequence: sequence, hitID: row[1])
        self.cursors[hits.journal] = cursor
        return cursor
    }

    // MARK: A batch

    private func store(
        _ hits: HitBatch, _ cursor: HitCursor?, _ connection: PostgreSQLConnection
    ) throws -> [Int: String] {
        let known = try cursor?.known(in: hits) ?? 0
        if known == hits.sequence { return [:] }
        if known > 0 { try self.rows.encode(hits, after: known) }
        try self.partitions.ensure(self.rows.days, connection)
        self.refusals.beginBatch()
        var refused: [Int: String] = [:]
        let count = self.rows.rows.count
        var start = 0
        repeat {
            let end = min(count, start + min(self.maxRows, count))
            let part = Part(hits: hits, rows: start..<end, isLast: end == count)
            let isWhole = refused.isEmpty
            refused.merge(try self.store(part, isWhole: isWhole, connection)) { $1 }
            start = end
        } while start < count
        if self.maxRows < count { self.maxRows *= 2 } else { self.maxRows = .max }
        return refused
    }

    /// The rows of one transaction.
    private struct Part {
        let hits: HitBatch
        let rows: Range<Int>
        let isLast: Bool

        /// The cursor that goes with them; nil for a replay, and before the batch's end.
        func cursor(isWhole: Bool) throws -> HitCursor? {
            guard self.isLast, !self.hits.isReplay else { return nil }
            let group = self.hits.groups[self.hits.groups.count - 1]
            return HitCursor(
                sequence: self.hits.sequence,
                hitID: isWhole ? try HitCursor.hitID(ofLastHitIn: group, of: self.hits) : nil)
        }
    }

    /// Stores some rows in one transaction, in the cheapest way in which it can be done.
    ///
    /// - Parameter isWhole: whether all earlier rows of the batch are stored.
    /// - Returns: reasons of the rows that the server refuses, by position.
    private func store(
        _ part: Part, isWhole: Bool, _ connection: PostgreSQLConnection
    ) throws -> [Int: String] {
        let isKnown = self.stagedBatches > 0 || part.hits.isReplay
        var way = isKnown ? HitTransaction.Way.staged : .direct
        self.stagedBatches = max(0, self.stagedBatches - 1)
        while true {
            var transaction = HitTransaction(
                way, self.schema, self.rows, connection, self.refusals)
            do {
                try self.makeStage(for: way, connection)
                let refused = try transaction.write(part.rows)
                let cursor = try part.cursor(isWhole: isWhole && refused.isEmpty)
                try transaction.commit(cursor, of: part.hits.journal)
                if let cursor { self.cursors[part.hits.journal] = cursor }
                self.note(transaction.refusals)
                return refused
            } catch let error as PostgreSQLError where error.isOfRow && way != .careful {
                try connection.run("ROLLBACK")
                way = error.isDuplicate && way == .direct ? .staged : .careful
                if error.isDuplicate { self.stagedBatches = Self.stagedAfterDuplicate }
            }
        }
    }

    /// Takes over what a transaction has counted, and tells of tenants that are newly to blame.
    private func note(_ refusals: TenantRefusals) {
        for tenant in refusals.blamed.subtracting(self.refusals.blamed) {
            self.logger?.warning(
                """
                too many hits of a tenant are refused: rows of it are tried together and become \
                dead letters together, until some are stored
                """,
                metadata: [
                    "sink": "postgresql",
                    "tenant": "\(String(decoding: tenant, as: UTF8.self))",
                    "postgresql.max_refused": .stringConvertible(self.configuration.maxRefused),
                ])
        }
        self.refusals = refusals
    }

    private func makeStage(
        for way: HitTransaction.Way, _ connection: PostgreSQLConnection
    ) throws {
        if way == .direct || self.hasStage { return }
        try connection.run(PostgreSQLSchema.stageCreation)
        self.hasStage = true
    }
}
#endif
