internal import GRDB

extension QuarantineFile {
    /// The maximum number of rows deleted in one statement.
    private static let pieceRowCount = 500

    /// Adds to the bytes counted for a tenant.
    static func count(_ bytes: Int, of tenant: String, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO tenants VALUES (?, ?)
                ON CONFLICT (tenant) DO UPDATE SET bytes = bytes + excluded.bytes
                """, arguments: [tenant, bytes])
    }

    /// Deletes rows, and the counts of tenants that have none left.
    static func delete(_ ids: [Int64], in database: Database) throws {
        let deletion = try database.cachedStatement(
            sql: "DELETE FROM events WHERE id = ? RETURNING tenant, bytes")
        var freed: [String: Int] = [:]
        for id in ids {
            guard let row = try GRDB.Row.fetchOne(deletion, arguments: [id]) else { continue }
            freed[row[0] ?? "", default: 0] += row[1] ?? 0
        }
        for (tenant, bytes) in freed { try Self.count(-bytes, of: tenant, in: database) }
        try database.execute(sql: "DELETE FROM tenants WHERE bytes <= 0")
    }

    /// The bytes of the file that are in use.
    static func usedBytes(_ database: Database) throws -> Int {
        let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        let free = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
        let pageBytes = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
        return (pages - free) * pageBytes
    }

    /// Deletes events received too long ago, wherever they are: a clock that was wrong leaves some
    /// among others that are not.
    static func deleteOld(before oldest: Int64, in database: Database) throws {
        // No part of the format: SQLite keeps it up to date for a build that does not know it.
        try database.execute(
            sql: "CREATE INDEX IF NOT EXISTS events_by_time ON events (receive_time)")
        while true {
            let ids = try Int64.fetchAll(
                database,
                sql: "SELECT id FROM events WHERE receive_time < ? ORDER BY receive_time LIMIT ?",
                arguments: [oldest, Self.pieceRowCount])
            guard !ids.isEmpty else { return }
            try Self.delete(ids, in: database)
        }
    }

    /// Evicts the oldest events of the tenant with the most bytes, one tenant after the other,
    /// until the file is small enough. So a tenant loses nothing while another one has more.
    ///
    /// - Returns: the number of evicted events.
    func evict(in database: Database) throws -> Int {
        var evicted = 0
        while try Self.usedBytes(database) > self.maxBytes {
            let ids = try Int64.fetchAll(
                database,
                sql: """
                    SELECT id FROM events
                    WHERE tenant = (SELECT tenant FROM tenants ORDER BY bytes DESC, tenant LIMIT 1)
                    ORDER BY id LIMIT ?
                    """, arguments: [Self.pieceRowCount])
            guard !ids.isEmpty else { break }
            try Self.delete(ids, in: database)
            evicted += ids.count
        }
        return evicted
    }
}
