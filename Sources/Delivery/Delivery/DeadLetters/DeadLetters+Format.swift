internal import GRDB
internal import Storage

extension DeadLetters {
    /// The format of dead_letters.db.
    package static let formatVersion = 1

    /// Deleted letters are overwritten, whatever SQLite was built with: they may be personal.
    static let format = DataFile.Format(
        version: formatVersion,
        settings: "PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON", create: create)

    /// The journal's id is part of a letter's key, because sequences repeat between journals.
    @Sendable private static func create(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE dead_letters (
                    journal TEXT NOT NULL, sink TEXT NOT NULL, sequence INTEGER NOT NULL,
                    position INTEGER NOT NULL, hit_id BLOB, reason TEXT NOT NULL, tenant TEXT,
                    refused_time INTEGER NOT NULL, record BLOB NOT NULL,
                    UNIQUE (journal, sink, sequence, position));
                """)
    }

    /// Inserts a letter unless it exists. Its row id is above those of deleted letters too: a
    /// replay that is under way settles by them, and `tail` follows them. The reason is bound as a
    /// blob: a backend's words may have a zero byte, at which GRDB would end a text.
    static let insertion = """
        INSERT OR IGNORE INTO dead_letters (
            rowid, journal, sink, sequence, position, hit_id, reason, tenant, refused_time, record)
        SELECT max(:time, (SELECT coalesce(max(rowid), 0) + 1 FROM dead_letters)),
            :journal, :sink, :sequence, :position, :hitID, CAST(:reason AS TEXT), :tenant, :time,
            :record
        """
}
