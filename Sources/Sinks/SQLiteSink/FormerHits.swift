internal import Foundation
internal import GRDB
internal import TrackingCore

/// The hits of a hits.db of the first format, which had one table with texts and a unique index.
/// They move into partitions while the server runs.
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
        for row in rows { try StoredHit.read(row, take) }
        let table = HitViews.formerTable
        if let last = rows.last {
            try database.execute(
                sql: "DELETE FROM \(table) WHERE rowid <= ?", arguments: [last["rowid"] as Int64])
        }
        // Two look-ups, where counting would read the whole table each time.
        let ids = "SELECT (SELECT max(rowid) FROM \(table)) - (SELECT min(rowid) FROM \(table))"
        return try Int.fetchOne(database, sql: ids).map { $0 + 1 } ?? 0
    }
}
