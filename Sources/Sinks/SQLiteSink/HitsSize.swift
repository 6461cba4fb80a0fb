internal import GRDB

/// The size of hits.db.
enum HitsSize {
    /// The bytes of the pages in use. The pages of dropped hits are not in use until SQLite reuses
    /// them.
    ///
    /// - Throws: SQLite's error.
    static func bytes(of database: Database) throws -> Int {
        let figures = try ["page_count", "freelist_count", "page_size"].map { name in
            try Int.fetchOne(database.cachedStatement(sql: "PRAGMA \(name)")) ?? 0
        }
        return (figures[0] - figures[1]) * figures[2]
    }

    /// The bytes of free pages, if hits that were deleted by age or size may stand in them: SQLite
    /// does not overwrite the pages of a dropped partition. 0 if none was ever dropped, as their
    /// numbers rise by one.
    ///
    /// - Throws: SQLite's error.
    static func bytesOfDropped(in database: Database) throws -> Int {
        let dropped = try Int.fetchOne(
            database, sql: "SELECT coalesce(max(id), 0) - count(*) FROM partitions")
        guard dropped ?? 0 > 0 else { return 0 }
        return try ["freelist_count", "page_size"].reduce(1) { bytes, name in
            try bytes * (Int.fetchOne(database, sql: "PRAGMA \(name)") ?? 0)
        }
    }
}
