/// Stores totals of deliveries, and tells them.
package protocol DeliveryTotalsStoring: Sendable {
    /// Stores totals of a tenant; each replaces the earlier ones of its delivery wholly.
    ///
    /// - Parameters:
    ///   - deliveries: totals, of each delivery once; their own tenants are not looked at.
    ///   - now: microseconds since 1970.
    /// - Returns: the indexes of those that are not stored, because the tenant has its share of
    ///   `deliveries.max_rows`.
    /// - Throws: SQLite's error; then none is stored.
    func put(
        _ deliveries: [DeliveryTotals], of tenant: String, now: Int64
    ) async throws -> [Int]

    /// The totals of a delivery, of one tenant or of each.
    ///
    /// - Throws: SQLite's error, or that of a row that no build has written.
    func totals(of delivery: String, tenant: String?) async throws -> [DeliveryTotals]

    /// The totals of several deliveries, of each tenant.
    ///
    /// - Throws: the same errors.
    func totals(ofAny deliveries: [String]) async throws -> [DeliveryTotals]

    /// The totals that were put last, of each tenant: the newest put first, and of one put the last
    /// id.
    ///
    /// - Throws: the same errors.
    func recentTotals(limit: Int) async throws -> [DeliveryTotals]
}

extension DeliveryTotalsStoring {
    /// The totals of several deliveries; none while they cannot be read: then whoever shows them
    /// lacks a name or a comparison, and nothing else.
    package func known(ofAny deliveries: [String]) async -> [DeliveryTotals] {
        (try? await self.totals(ofAny: deliveries)) ?? []
    }

    /// The totals that were put last; none while they cannot be read.
    package func recentlyPut(limit: Int) async -> [DeliveryTotals] {
        (try? await self.recentTotals(limit: limit)) ?? []
    }
}
