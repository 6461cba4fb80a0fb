internal import Foundation
internal import GRDB
internal import SinkKit

/// Erases a subject's rows from hits.db, in pieces; batches are written in between.
///
/// First all rows are overwritten in place: their size stays the same, so SQLite moves nothing and
/// no page keeps a copy. Only then are they deleted, which moves other rows; the pages that these
/// leave are overwritten, for the day on which their own subjects are erased. After a crash in
/// between, the overwritten rows are recognized by their hit id, and the next erasure deletes them.
struct HitErasure {
    let subject: Subject

    /// The rows searched in one transaction: batches wait for some 20 ms.
    private static let pieceRowCount: Int64 = 50_000
    /// The maximum number of rows deleted in one transaction.
    static let deletedRowCount = 500
    /// The hit id of an overwritten row.
    static let overwrittenID = Data(repeating: 0, count: 16)

    /// A table, and its overwritten rows.
    struct Overwritten {
        let table: String
        var ids: [Int64] = []
    }

    /// The names of the present tables of rows.
    ///
    /// - Throws: SQLite's error.
    static func tables(in database: Database) throws -> [String] {
        try Int64.fetchAll(database, sql: "SELECT id FROM partitions ORDER BY id")
            .map { "hits_\($0)" }
    }

    /// Overwrites the rows of the next piece of a table.
    ///
    /// - Returns: their ids, and the id after which the next piece begins; nil at the end, or if
    ///   the table was dropped meanwhile.
    /// - Throws: SQLite's error.
    func overwrite(
        _ table: String, after: Int64, in database: Database
    ) throws -> (ids: [Int64], last: Int64?) {
        guard try database.tableExists(table),
            let last = try Int64.fetchOne(
                database,
                sql: """
                    SELECT max(rowid) FROM (
                        SELECT rowid FROM \(table) WHERE rowid > ? ORDER BY rowid LIMIT ?)
                    """, arguments: [after, Self.pieceRowCount])
        else { return ([], nil) }
        // As blobs: GRDB binds a text only up to its first zero byte, and the rows have complete
        // ids.
        let marks = self.subject.ids.map { _ in "CAST(? AS TEXT)" }.joined(separator: ", ")
        let ids = try Int64.fetchAll(
            database,
            sql: """
                SELECT rowid FROM \(table)
                WHERE rowid > ? AND rowid <= ? AND (
                    tenant = (SELECT id FROM names WHERE text = ?) AND subject_id IN (\(marks))
                    OR hit_id = ?)
                """,
            arguments: [after, last, self.subject.tenant]
                + StatementArguments(self.subject.ids.map { Data($0.utf8) })
                + [Self.overwrittenID])
        let overwriting = try database.cachedStatement(
            sql: """
                UPDATE \(table) SET hit_id = zeroblob(length(hit_id)),
                    subject_id = \(Self.zeros("subject_id")),
                    broadlog_id = \(Self.zeros("broadlog_id")),
                    event = CASE typeof(event) WHEN 'integer' THEN event
                        ELSE zeroblob(length(event)) END
                WHERE rowid = ?
                """)
        for id in ids { try overwriting.execute(arguments: [id]) }
        return (ids, last)
    }

    /// As many zeros as the text has bytes, so that the row keeps its size.
    private static func zeros(_ column: String) -> String {
        let bytes = "length(CAST(\(column) AS BLOB))"
        return "substr(hex(zeroblob(\(bytes))), 1, \(bytes))"
    }

    /// Deletes overwritten rows of a table, the newest first. A row whose trace others share is
    /// then deleted after those of them that are deleted too, and passes its trace only to the
    /// remaining ones.
    ///
    /// - Throws: SQLite's error.
    static func delete(
        _ ids: ArraySlice<Int64>, from table: String, in database: Database
    ) throws {
        // The table may have been dropped meanwhile, with all its rows.
        guard try database.tableExists(table) else { return }
        try database.execute(sql: "PRAGMA secure_delete = ON")
        // Without this, all later deletions would overwrite pages too, and only cost more.
        defer { try? database.execute(sql: "PRAGMA secure_delete = FAST") }
        let deletion = try database.cachedStatement(sql: "DELETE FROM \(table) WHERE rowid = ?")
        for id in ids.reversed() {
            try Self.passOnTrace(of: id, table, database)
            try deletion.execute(arguments: [id])
        }
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
    /// Erases a subject.
    ///
    /// - Returns: how many hits were erased.
    /// - Throws: SQLite's error; pieces erased before it stay erased.
    func erase(_ subject: Subject) async throws -> Int {
        let erasure = HitErasure(subject: subject)
        var all: [HitErasure.Overwritten] = []
        for table in try await self.read({ try HitErasure.tables(in: $0) }) {
            var (overwritten, after) = (HitErasure.Overwritten(table: table), Int64(0))
            while true {
                let start = after
                let piece = try await self.change { _, database in
                    try erasure.overwrite(table, after: start, in: database)
                }
                overwritten.ids += piece.ids
                guard let last = piece.last else { break }
                after = last
            }
            all.append(overwritten)
        }
        for rows in all {
            var rest = rows.ids[...]
            while !rest.isEmpty {
                let piece = rest.suffix(HitErasure.deletedRowCount)
                try await self.change { writer, database in
                    try HitErasure.delete(piece, from: rows.table, in: database)
                    try writer.uncount(piece.count, of: rows.table, in: database)
                }
                rest = rest.dropLast(HitErasure.deletedRowCount)
            }
        }
        try await self.emptyLog()
        return all.reduce(0) { $0 + $1.ids.count }
    }
}
