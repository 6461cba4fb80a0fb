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
}
