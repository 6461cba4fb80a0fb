internal import GRDB
internal import GRDBSQLite
package import Logging
internal import TrackingCore

/// The default sink: one row per hit in `hits.db`, which can be queried while the server runs. The
/// batch's sequence is stored in the same transaction as its rows, so the effect of a repeated
/// delivery is exactly once.
package final class SQLiteSink: Sink {
    /// The sink's name, "sqlite".
    package let name = "sqlite"
    private let file: DataFile

    /// Opens the database, creating it if missing. While another program has locked it, the sink is
    /// unavailable.
    ///
    /// - Parameters:
    ///   - busyTimeout: how long each call waits for another program's lock.
    ///   - logger: warns if the file cannot be opened yet.
    /// - Throws: `FileFormatError`, or SQLite's error if the file is unusable.
    package init(
        path: String, busyTimeout: Duration = .seconds(5), logger: Logger? = nil
    ) throws {
        self.file = try DataFile(
            path: path, format: Self.format, busyTimeout: busyTimeout, logger: logger)
    }

    /// Inserts the batch in one transaction; does nothing if it was inserted before.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        do {
            try await self.file.write { try Self.insert(hits, into: $0) }
            return .delivered
        } catch {
            return SinkAnswer(failure: error, of: "hits.db: ")
        }
    }

    private static func insert(_ hits: HitBatch, into database: Database) throws {
        let known = try Int64.fetchOne(
            database, sql: "SELECT sequence FROM cursor WHERE journal = ?",
            arguments: [hits.journal])
        guard hits.sequence > known ?? 0 else { return }
        let statement = try database.cachedStatement(sql: Self.insertion)
        var insert = HitInsertStatement(statement.sqliteStatement)
        try hits.forEach { _, hit in
            guard try insert.run(hit) == SQLITE_DONE else {
                throw DatabaseError(
                    resultCode: database.lastErrorCode, message: database.lastErrorMessage)
            }
        }
        try database.cachedStatement(
            sql: "INSERT OR REPLACE INTO cursor (journal, sequence) VALUES (?, ?)"
        ).execute(arguments: [hits.journal, hits.sequence])
    }

    private static let insertion = """
        INSERT INTO hits (
            hit_id, kind, campaign_action, delivery_id, broadlog_id, app_id, platform, subject_id,
            occur_time, receive_time, tenant, traceparent, tracestate, warnings, event)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """
}
