internal import GRDB
internal import Storage

extension DeadLetters {
    /// The version of dead_letters.db.
    package static let formatVersion = 1

    static let format = DataFile.Format(
        version: formatVersion, settings: "PRAGMA journal_mode = WAL", migrate: migrate)

    /// The journal's id is part of a letter's key, because sequences repeat between journals.
    /// Letters from before format numbers lack it; their rows are kept.
    @Sendable private static func migrate(_ database: Database) throws {
        let hasLetters = try database.tableExists("dead_letters")
        if hasLetters {
            try database.execute(sql: "ALTER TABLE dead_letters RENAME TO letters_before")
        }
        try database.execute(
            sql: """
                CREATE TABLE dead_letters (
                    journal TEXT NOT NULL, sink TEXT NOT NULL, sequence INTEGER NOT NULL,
                    position INTEGER NOT NULL, hit_id BLOB, reason TEXT NOT NULL, tenant TEXT,
                    refused_time INTEGER NOT NULL, record BLOB NOT NULL,
                    UNIQUE (journal, sink, sequence, position));
                """)
        guard hasLetters else { return }
        try database.execute(
            sql: """
                INSERT INTO dead_letters (
                    rowid, journal, sink, sequence, position, hit_id, reason, tenant,
                    refused_time, record)
                SELECT rowid, '', sink, sequence, position, hit_id, reason, tenant,
                    refused_time, record FROM letters_before ORDER BY rowid;
                DROP TABLE letters_before;
                """)
    }

    /// Inserts a letter unless it exists, either under its journal's id or, from an earlier build,
    /// with the same bytes and no id. Its row id is above those of deleted letters too: a replay
    /// that is under way settles by them, and `tail` follows them.
    static let insertion = """
        INSERT OR IGNORE INTO dead_letters (
            rowid, journal, sink, sequence, position, hit_id, reason, tenant, refused_time, record)
        SELECT max(:time, (SELECT coalesce(max(rowid), 0) + 1 FROM dead_letters)),
            :journal, :sink, :sequence, :position, :hitID, :reason, :tenant, :time, :record
        WHERE NOT EXISTS (
            SELECT 1 FROM dead_letters
            WHERE journal = '' AND sink = :sink AND sequence = :sequence
                AND record = :record AND length(record) > 0)
        """
}
