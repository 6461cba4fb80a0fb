// The default sink: hits in a database that a person can query while the service runs.
internal import GRDB
internal import GRDBSQLite
package import Logging
internal import TrackingCore

/// One row per hit in `hits.db`. The place in the journal is kept in the same transaction as the
/// rows, so the effect of a batch that comes again is exactly once.
package final class SQLiteSink: Sink {
    /// "sqlite".
    package let name = "sqlite"
    private let file: DataFile

    /// Opens the database, creating it where it is missing. Where another program holds it the
    /// sink is unavailable until it can be opened.
    ///
    /// - Parameters:
    ///   - busyTimeout: how long another program's lock is waited for, each time.
    ///   - logger: told where the file cannot be opened now.
    /// - Throws: `FileFormatError`, or what SQLite says where the file cannot be used.
    package init(
        path: String, busyTimeout: Duration = .seconds(5), logger: Logger? = nil
    ) throws {
        self.file = try DataFile(
            path: path, format: Self.format, busyTimeout: busyTimeout, logger: logger)
    }

    /// Inserts the batch in one transaction; does nothing where it is known already.
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
