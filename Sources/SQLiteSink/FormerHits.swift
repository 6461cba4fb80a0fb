internal import Foundation
internal import GRDB
internal import TrackingCore

/// The hits of a hits.db of the first format, which had one table with texts and a unique index.
/// They move into parts while the server runs.
struct FormerHits {
    private let lookup: Statement
    private let selection: Statement

    /// Nil if there are none.
    ///
    /// - Throws: SQLite's error.
    init?(in database: Database) throws {
        let table = HitViews.formerTable
        guard try database.tableExists(table) else { return nil }
        self.lookup = try database.makeStatement(sql: "SELECT 1 FROM \(table) WHERE hit_id = ?")
        self.selection = try database.makeStatement(
            sql: "SELECT rowid, * FROM \(table) ORDER BY rowid LIMIT ?")
    }

    /// The kinds of which the table has no hit of this fact.
    ///
    /// - Throws: SQLite's error.
    func removing(_ kinds: HitKinds, of key: HitKey) throws -> HitKinds {
        let new = try kinds.kinds.filter { kind in
            try Int.fetchOne(self.lookup, arguments: [Data(key.hitID(kind))]) == nil
        }
        return HitKinds(rawValue: new.reduce(0) { $0 | HitKinds($1).rawValue })
    }

    /// Deletes the oldest rows and calls `take` with each.
    ///
    /// - Returns: how many are left; more than that if rows were deleted by hand.
    /// - Throws: SQLite's error, or that of `take`.
    func move(
        _ limit: Int, in database: Database,
        _ take: (Int64, JournalEvent, Hit.Origin) throws -> Void
    ) throws -> Int {
        let rows = try Row.fetchAll(self.selection, arguments: [limit])
        for row in rows { try self.move(row, take) }
        let table = HitViews.formerTable
        if let last = rows.last {
            try database.execute(
                sql: "DELETE FROM \(table) WHERE rowid <= ?", arguments: [last["rowid"] as Int64])
        }
        // Two look-ups, where counting would read the whole table each time.
        let ids = "SELECT (SELECT max(rowid) FROM \(table)) - (SELECT min(rowid) FROM \(table))"
        return try Int.fetchOne(database, sql: ids).map { $0 + 1 } ?? 0
    }

    private func move(
        _ row: Row, _ take: (Int64, JournalEvent, Hit.Origin) throws -> Void
    ) throws {
        let event: Data = row["event"]
        let hitID: Data = row["hit_id"]
        guard hitID.count == 16, let kind = hitID.last.flatMap(HitKind.init(rawValue:)) else {
            throw DatabaseError(
                message:
                    "row \(row["rowid"] as Int64) of \(HitViews.formerTable) has no hit id of 16 "
                    + "bytes that ends in a kind: no build has written it")
        }
        let key = hitID.withUnsafeBytes { id in
            HitKey(
                high: UInt64(bigEndian: id.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: id.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
        let warnings: String = row["warnings"] ?? ""
        let texts = ["tenant", "traceparent", "tracestate"].map { row[$0] as String? ?? "" }
        try event.withUnsafeBytes { event in
            let product = try EventView(event).product
            try texts[0].withBytes { tenant in
                try texts[1].withBytes { traceparent in
                    try texts[2].withBytes { tracestate in
                        try take(
                            row["rowid"],
                            JournalEvent(
                                key: key, product: product, kinds: HitKinds(kind),
                                warnings: Warnings(names: warnings), bytes: event),
                            Hit.Origin(
                                receiveTime: row["receive_time"] ?? 0, tenant: tenant,
                                traceparent: traceparent, tracestate: tracestate))
                    }
                }
            }
        }
    }
}
