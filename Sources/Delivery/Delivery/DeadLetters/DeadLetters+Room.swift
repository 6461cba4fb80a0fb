internal import GRDB
internal import Pacing

extension DeadLetters {
    /// Evicts letters beyond a limit, the oldest of the tenants that have most: so a tenant loses
    /// none while another one has more. Letters of no tenant count as those of one.
    static func evict(to maxRows: Int, in database: Database) throws {
        let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM dead_letters") ?? 0
        guard count > maxRows else { return }
        // No part of the format: SQLite keeps it up to date for a build that does not know it.
        try database.execute(
            sql: "CREATE INDEX IF NOT EXISTS letters_of_tenant ON dead_letters (tenant)")
        var parts: [[UInt8]: Int] = [:]
        let rows = try Row.fetchCursor(
            database, sql: "SELECT tenant, count(*) FROM dead_letters GROUP BY tenant")
        while let row = try rows.next() {
            let (tenant, count): (String, Int) = (row[0] ?? Self.noTenant, row[1] ?? 0)
            parts[Array(tenant.utf8)] = count
        }
        for (tenant, count) in TenantShares.excess(of: parts, over: maxRows) {
            let name = tenant.isEmpty ? nil : String(decoding: tenant, as: UTF8.self)
            try database.execute(
                sql: """
                    DELETE FROM dead_letters WHERE rowid IN (
                        SELECT rowid FROM dead_letters WHERE tenant IS ? ORDER BY rowid LIMIT ?)
                    """, arguments: [name, count])
        }
    }

    /// Stands for none: no tenant's name is empty.
    private static let noTenant = ""
}
