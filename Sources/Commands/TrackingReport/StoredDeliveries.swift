package import DeliveryDiagnosis
package import GRDB

/// The deliveries and in-app messages that hits.db has counted, whatever their age, with the names
/// of the messages' campaigns.
package enum StoredDeliveries {
    /// Those that a search may mean. Reads all counts.
    ///
    /// - Parameter tenant: the tenant of the deliveries; nil for all.
    /// - Throws: SQLite's error if hits.db cannot be read, `RowDecodingError` if it has values that
    ///   no build has written.
    package static func candidates(
        of search: DeliverySearch, tenant: String?, in database: Database
    ) throws -> [DeliverySearch.Candidate] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT DISTINCT \(StoredName.text("tenant")) AS tenant,
                    \(StoredName.text("delivery")) AS delivery,
                    \(StoredName.text("campaign")) AS campaign
                FROM counts
                WHERE :tenant IS NULL OR tenant = (SELECT id FROM names WHERE text = :tenant)
                """, arguments: ["tenant": tenant])
        let candidates = try rows.compactMap { row in
            search.candidate(
                tenant: try row.decode(String.self, forColumn: "tenant"),
                delivery: try row.decode(String.self, forColumn: "delivery"),
                name: try row.decode(String?.self, forColumn: "campaign"))
        }
        return DeliverySearch.best(of: candidates)
    }
}
