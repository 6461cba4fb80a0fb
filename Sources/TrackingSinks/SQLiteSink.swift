// The default sink: hits in a database that a person can query while the service runs.
internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import TrackingCore

/// One row per hit in `hits.db`. The place in the journal is kept in the same transaction as the
/// rows, so the effect of a batch that comes again is exactly once.
package final class SQLiteSink: Sink {
    /// "sqlite".
    package let name = "sqlite"
    private let database: DatabaseQueue

    /// Opens the database, creating it where it is missing.
    ///
    /// - Throws: what SQLite says where the file cannot be used.
    package init(path: String) throws {
        var configuration = Configuration()
        configuration.label = "sightline.hits"
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            // hit_id is random, so each row dirties a page of its index: a long log and a large
            // cache write such a page once for many rows (measured: 145,000 rows/s instead of
            // 85,000 with SQLite's own 4 KiB, 4 MiB and 64 MiB).
            try database.execute(
                sql: """
                    PRAGMA page_size = 8192;
                    PRAGMA cache_size = -131072;
                    PRAGMA journal_mode = WAL;
                    PRAGMA wal_autocheckpoint = 32768;
                    """)
        }
        self.database = try DatabaseQueue(path: path, configuration: configuration)
        try self.database.writeWithoutTransaction { database in
            // The journal forgets a batch once it is delivered, so delivered has to mean on disk.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.execute(sql: Self.schema)
        }
    }

    /// Inserts the batch in one transaction; does nothing where it is known already.
    package func deliver(_ hits: HitBatch) async -> Delivery {
        do {
            try await self.database.write { database in try Self.insert(hits, into: database) }
            return .delivered
        } catch {
            return Delivery(failure: error, of: "hits.db: ")
        }
    }

    private static func insert(_ hits: HitBatch, into database: Database) throws {
        let known = try Int64.fetchOne(
            database, sql: "SELECT sequence FROM cursor WHERE journal = ?",
            arguments: [hits.journal])
        guard hits.sequence > known ?? 0 else { return }
        let statement = try database.cachedStatement(sql: Self.insertion)
        var row = HitRow(statement.sqliteStatement)
        try hits.forEach { _, hit in
            guard try row.insert(hit) == SQLITE_DONE else {
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
