internal import GRDB

/// Numbers that hits.db keeps between starts, by name. The table is no part of the format: a file
/// of an earlier build gets it with its first batch, and such a build does not read it.
enum HitBounds {
    static let schema = """
        CREATE TABLE IF NOT EXISTS bounds (
            name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
        """

    /// An id from which on no row was erased.
    static let newestErased = "newest_erased"
    /// The hours up to which the rows of days, and of months, are folded.
    static let (daysFolded, monthsFolded) = ("days_folded", "months_folded")

    /// A number; nil if the file does not have it.
    ///
    /// - Throws: SQLite's error.
    static func value(_ name: String, in database: Database) throws -> Int64? {
        try Int64.fetchOne(
            database, sql: "SELECT value FROM bounds WHERE name = ?", arguments: [name])
    }

    /// Sets a number.
    ///
    /// - Throws: SQLite's error.
    static func set(_ name: String, to value: Int64, in database: Database) throws {
        try database.cachedStatement(
            sql: """
                INSERT INTO bounds VALUES (?, ?)
                ON CONFLICT DO UPDATE SET value = excluded.value
                """
        ).execute(arguments: [name, value])
    }
}
