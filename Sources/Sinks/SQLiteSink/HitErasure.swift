internal import Foundation
internal import GRDB
internal import SinkKit

/// Erases a subject's rows from hits.db, in pieces; batches are written in between.
///
/// First all rows are overwritten in place: their size stays the same, so SQLite moves nothing and
/// no page keeps a copy. The views hide them. Only then are they deleted, which moves other rows;
/// the pages that these leave are overwritten, for the day on which their own subjects are erased.
/// A table of the file lists the overwritten rows that are not deleted yet, whoever's they were: so
/// after a crash the sink goes on by itself, and erasures may overlap.
///
/// Both ways go from the newest row to the oldest. A place is kept between two pieces, and no list
/// of tables: those that are dropped meanwhile are passed, and rows that come are masked already.
struct HitErasure: Sendable {
    /// What the next piece does.
    enum Phase: Sendable {
        /// It overwrites rows before a place.
        case overwriting(before: Place)
        /// It deletes overwritten rows before a place.
        case deleting(before: Place)
        /// It empties the file's log.
        case ending
    }

    /// The place of a row.
    struct Place: Sendable {
        let partition: Int64
        let row: Int64

        /// The place after all rows.
        static let end = Place(partition: .max, row: .max)
    }

    let subject: Subject
    private(set) var phase = Phase.overwriting(before: .end)
    /// The rows that were overwritten.
    private(set) var erased = 0

    /// The rows searched in one transaction: batches wait for some 20 ms.
    private static let searchedRowCount = 50_000
    /// The maximum number of rows overwritten in one transaction.
    static let overwrittenRowCount = 2000
    /// The maximum number of rows deleted in one transaction.
    static let deletedRowCount = 500
    /// The hit id of an overwritten row.
    static let overwrittenID = Data(repeating: 0, count: 16)

    /// No part of the format: a build that does not know the table leaves it as it is, and its rows
    /// are looked up by their hit id before they are deleted.
    private static let listCreation = """
        CREATE TABLE IF NOT EXISTS overwritten_rows (
            partition_id INTEGER NOT NULL, row_id INTEGER NOT NULL,
            PRIMARY KEY (partition_id, row_id)) WITHOUT ROWID
        """

    /// Begins an erasure.
    init(of subject: Subject) { self.subject = subject }

    /// Goes on with the deletion before a place; at the end of it if there is none.
    mutating func delete(before place: Place?) {
        self.phase = place.map { Phase.deleting(before: $0) } ?? .ending
    }

    /// Overwrites rows before a place, as many as belong to one piece.
    ///
    /// - Throws: SQLite's error.
    mutating func overwrite(before place: Place, in database: Database) throws {
        try database.execute(sql: Self.listCreation)
        let partition = try Int64.fetchOne(
            database, sql: "SELECT max(id) FROM partitions WHERE id <= ?",
            arguments: [place.partition])
        guard let partition else {
            self.phase = .deleting(before: .end)
            return
        }
        let table = "hits_\(partition)"
        let end = partition == place.partition ? place.row : .max
        let first = try Int64.fetchOne(
            database,
            sql: """
                SELECT min(id) FROM (
                    SELECT id FROM \(table) WHERE id < ? ORDER BY id DESC LIMIT ?)
                """, arguments: [end, Self.searchedRowCount])
        guard let first else {
            self.phase = .overwriting(before: Place(partition: partition - 1, row: .max))
            return
        }
        let ids = try self.rows(of: table, in: first..<end, database)
        for id in ids {
            guard try Self.list(id, of: partition, in: database) else { continue }
            try Self.overwrite(id, of: table, in: database)
            self.erased += 1
        }
        let isWhole = ids.count < Self.overwrittenRowCount
        let last = isWhole ? first : ids.last ?? first
        self.phase = .overwriting(before: Place(partition: partition, row: last))
    }

    /// The subject's rows within a range, and overwritten ones, which a build without a list may
    /// have left; the newest first, as many as are overwritten in one piece.
    private func rows(
        of table: String, in range: Range<Int64>, _ database: Database
    ) throws -> [Int64] {
        // As blobs: GRDB binds a text only up to its first zero byte, and the rows have complete
        // ids.
        let marks = self.subject.ids.map { _ in "CAST(? AS TEXT)" }.joined(separator: ", ")
        return try Int64.fetchAll(
            database,
            sql: """
                SELECT id FROM \(table)
                WHERE id >= ? AND id < ? AND (
                    tenant = (SELECT id FROM names WHERE text = ?) AND subject_id IN (\(marks))
                    OR hit_id = ?)
                ORDER BY id DESC LIMIT ?
                """,
            arguments: [range.lowerBound, range.upperBound, self.subject.tenant]
                + StatementArguments(self.subject.ids.map { Data($0.utf8) })
                + [Self.overwrittenID, Self.overwrittenRowCount])
    }

    /// Lists a row as overwritten.
    ///
    /// - Returns: false if it was listed already.
    private static func list(
        _ id: Int64, of partition: Int64, in database: Database
    ) throws -> Bool {
        try database.cachedStatement(sql: "INSERT OR IGNORE INTO overwritten_rows VALUES (?, ?)")
            .execute(arguments: [partition, id])
        return database.changesCount > 0
    }

    /// The row that has an event's bytes is older than those that refer to it, so it is overwritten
    /// after them: none ever refers to bytes that are gone.
    private static func overwrite(
        _ id: Int64, of table: String, in database: Database
    ) throws {
        try database.cachedStatement(
            sql: """
                UPDATE \(table) SET hit_id = zeroblob(length(hit_id)),
                    subject_id = \(Self.zeros("subject_id")),
                    broadlog_id = \(Self.zeros("broadlog_id")),
                    event = CASE typeof(event) WHEN 'integer' THEN event
                        ELSE zeroblob(length(event)) END
                WHERE id = ?
                """
        ).execute(arguments: [id])
    }

    /// As many zeros as the text has bytes, so that the row keeps its size.
    private static func zeros(_ column: String) -> String {
        let bytes = "length(CAST(\(column) AS BLOB))"
        return "substr(hex(zeroblob(\(bytes))), 1, \(bytes))"
    }

    // MARK: Deleting

    /// Deletes listed rows before a place, the newest first, as many as belong to one piece. A row
    /// whose trace others share is then deleted after those of them that are deleted too, and
    /// passes its trace only to the remaining ones.
    ///
    /// - Returns: how many were deleted by partition, and the place of the last; nil at the end.
    /// - Throws: SQLite's error.
    static func delete(
        before place: Place, in database: Database
    ) throws -> (deleted: [Int64: Int], last: Place?) {
        guard try database.tableExists("overwritten_rows") else { return ([:], nil) }
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT partition_id, row_id FROM overwritten_rows
                WHERE (partition_id, row_id) < (?, ?)
                ORDER BY partition_id DESC, row_id DESC LIMIT ?
                """, arguments: [place.partition, place.row, Self.deletedRowCount])
        let places = rows.map { Place(partition: $0[0] ?? 0, row: $0[1] ?? 0) }
        guard let last = places.last else { return ([:], nil) }
        try database.execute(sql: "PRAGMA secure_delete = ON")
        // Without this, all later deletions would overwrite pages too, and only cost more.
        defer { try? database.execute(sql: "PRAGMA secure_delete = FAST") }
        var deleted: [Int64: Int] = [:]
        for (partition, places) in Dictionary(grouping: places, by: \.partition) {
            // A table that was dropped has taken its rows along.
            guard try database.tableExists("hits_\(partition)") else { continue }
            deleted[partition] = try Self.delete(
                places.map(\.row), from: "hits_\(partition)", in: database)
        }
        try database.execute(
            sql: """
                DELETE FROM overwritten_rows
                WHERE (partition_id, row_id) >= (?, ?) AND (partition_id, row_id) < (?, ?)
                """, arguments: [last.partition, last.row, place.partition, place.row])
        return (deleted, last)
    }

    private static func delete(
        _ ids: [Int64], from table: String, in database: Database
    ) throws -> Int {
        let deletion = try database.cachedStatement(
            sql: "DELETE FROM \(table) WHERE id = ? AND hit_id = ?")
        var deleted = 0
        for id in ids {
            try Self.passOnTrace(of: id, table, database)
            try deletion.execute(arguments: [id, Self.overwrittenID])
            deleted += database.changesCount
        }
        return deleted
    }

    /// Moves a trace that other rows of the request share from this row to the first of them.
    private static func passOnTrace(of id: Int64, _ table: String, _ database: Database) throws {
        // The rows of a request follow each other in a partition, and the first has the trace.
        let sharing = try Int64.fetchAll(
            database,
            sql: """
                SELECT id FROM \(table) AS hit
                WHERE id > :id AND id < coalesce((
                    SELECT min(id) FROM \(table)
                    WHERE id > :id AND typeof(traceparent) <> 'integer'), :end)
                    AND id - traceparent = :id ORDER BY id
                """, arguments: ["id": id, "end": Int64.max])
        guard let first = sharing.first else { return }
        try database.execute(
            sql: """
                UPDATE \(table) SET (traceparent, tracestate) = (
                    SELECT traceparent, tracestate FROM \(table) WHERE id = :id)
                WHERE id = :first
                """, arguments: ["id": id, "first": first])
        for other in sharing.dropFirst() {
            try database.execute(
                sql: "UPDATE \(table) SET traceparent = :distance WHERE id = :other",
                arguments: ["distance": other - first, "other": other])
        }
    }
}

extension HitsFile {
    /// Does the next piece of an erasure.
    func next(_ erasure: HitErasure) async -> ErasurePiece {
        do {
            var next = erasure
            switch erasure.phase {
            case .overwriting(let place):
                next = try await self.change { _, database in
                    var erasure = erasure
                    try erasure.overwrite(before: place, in: database)
                    return erasure
                }
            case .deleting(let place): next.delete(before: try await self.delete(before: place))
            case .ending: return .last(try await self.end(erasure))
            }
            return .followed { [next] in await self.next(next) }
        } catch {
            self.endErasureEarly()
            return .last(.failed("hits.db: \(error)"))
        }
    }

    /// Deletes overwritten rows before a place, and subtracts them from their partitions.
    ///
    /// - Returns: the place of the last; nil at the end.
    /// - Throws: SQLite's error.
    func delete(before place: HitErasure.Place) async throws -> HitErasure.Place? {
        try await self.change { writer, database in
            let piece = try HitErasure.delete(before: place, in: database)
            for (partition, count) in piece.deleted {
                try writer.uncount(count, of: "hits_\(partition)", in: database)
            }
            return piece.last
        }
    }

    private func end(_ erasure: HitErasure) async throws -> Erasure {
        try await self.emptyLog()
        let bytes = try await self.read { try HitsSize.bytesOfDropped(in: $0) }
        return .erased(
            erasure.erased,
            except: bytes == 0
                ? ""
                : "\(bytes) bytes of free pages may have hits that were deleted by age or size, "
                    + "until new hits overwrite them or VACUUM does")
    }
}
