internal import Foundation
package import GRDB
internal import Storage
internal import TrackingRules

extension QuarantineFile {
    /// The format of quarantine.db.
    package static let formatVersion = 1

    /// Deleted events are overwritten: they may be personal.
    static let format = DataFile.Format(
        version: formatVersion,
        settings: "PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON", create: create)

    @Sendable private static func create(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE events (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL,
                    receive_time INTEGER NOT NULL, verdict TEXT NOT NULL,
                    violations TEXT NOT NULL, app_id TEXT NOT NULL, delivery_id TEXT NOT NULL,
                    version TEXT NOT NULL, bytes INTEGER NOT NULL, event BLOB NOT NULL);
                CREATE INDEX events_of_tenant ON events (tenant, id);
                CREATE TABLE tenants (tenant TEXT PRIMARY KEY, bytes INTEGER NOT NULL)
                    WITHOUT ROWID;
                """)
    }

    static let insertion = """
        INSERT INTO events (
            tenant, receive_time, verdict, violations, app_id, delivery_id, version, bytes, event)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    static let update = "UPDATE events SET verdict = ?, violations = ?, version = ? WHERE id = ?"

    /// The bytes of events after which a page of rows ends.
    private static let maxPageBytes = 256 << 10

    /// The id of the newest row; 0 if there is none.
    ///
    /// - Throws: SQLite's error.
    package static func lastID(in database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT max(id) FROM events") ?? 0
    }

    /// The next rows after `id` that match a filter, as many as are judged together.
    ///
    /// - Throws: SQLite's error.
    package static func rows(
        _ filter: QuarantineFilter, after id: Int64, through last: Int64,
        in database: Database
    ) throws -> [Row] {
        let (condition, arguments) = filter.sql
        let cursor = try GRDB.Row.fetchCursor(
            database,
            sql: """
                SELECT id, tenant, receive_time, verdict, event, app_id, delivery_id FROM events
                WHERE id > ? AND id <= ? \(condition.isEmpty ? "" : "AND \(condition)")
                ORDER BY id LIMIT ?
                """, arguments: [id, last] + arguments + [RecoveryPiece.maxEventCount])
        var rows: [Row] = []
        var bytes = 0
        while bytes < Self.maxPageBytes, let row = try cursor.next() {
            let event: Data = row[4] ?? Data()
            bytes += event.count
            rows.append(
                Row(
                    id: row[0] ?? 0,
                    event: QuarantinedEvent(
                        tenant: row[1] ?? "", receiveTime: row[2] ?? 0,
                        verdict: Verdict(name: row[3] ?? "") ?? .rejected, violations: [],
                        event: [UInt8](event), appID: row[5] ?? "", deliveryID: row[6] ?? "")))
        }
        return rows
    }
}
