internal import Foundation
internal import GRDB
package import Logging
package import Pacing
internal import Storage
internal import Synchronization

/// deliveries.db: the totals of deliveries that senders have put, by tenant. It is separate from
/// the journal because a put replaces what was there, and the journal's records only add up: the
/// newest put of 100,000 deliveries would have to be in every checkpoint.
///
/// What a put has stored is on disk before it returns, whole or not at all. Nothing else is ever
/// evicted for it; what was put too long ago is deleted.
package struct DeliveryTotalsFile: DeliveryTotalsStoring {
    /// The file's name in the data directory.
    package static let name = "deliveries.db"

    private let file: DataFile
    /// The number of deliveries that tenants share.
    package let maxRows: Int
    private let retention: RowRetention
    private let known = Known()

    /// What the newest call has found.
    private final class Known: Sendable {
        let rowCount = Atomic(0)
    }

    /// Opens the file, creating it if missing.
    ///
    /// - Throws: `FileFormatError`, or SQLite's error if the file is unusable.
    package init(
        directory: String, _ configuration: DeliveryTotalsConfiguration,
        retention: RetentionClock = RetentionClock(.microseconds), logger: Logger?
    ) throws {
        self.file = try DataFile(Self.name, in: directory, format: Self.format, logger: logger)
        self.maxRows = configuration.maxRows
        self.retention = RowRetention(
            days: configuration.retainDays, of: "put_time", in: "deliveries", clock: retention)
    }

    /// Stores totals of a tenant, and deletes deliveries of all tenants that were put too long ago.
    package func put(
        _ deliveries: [DeliveryTotals], of tenant: String, now: Int64
    ) async throws -> [Int] {
        let (unstored, rowCount) = try await self.file.write { database in
            let times = try self.retention.times(at: now, in: database)
            try Self.deleteOld(before: times.oldest, in: database)
            var room = try Room(of: tenant, maxRows: self.maxRows, in: database)
            let unstored = try deliveries.indices.filter { index in
                let totals = deliveries[index]
                let isNew = try !Self.delete(totals.delivery, of: tenant, in: database)
                guard !isNew || room.take() else { return true }
                try Self.insert(totals, of: tenant, putTime: times.latest, in: database)
                return false
            }
            return (unstored, room.used)
        }
        self.known.rowCount.store(rowCount, ordering: .relaxed)
        return unstored
    }

    /// The number of deliveries in the file since the newest put, or since they were counted.
    package var rowCount: Int { self.known.rowCount.load(ordering: .relaxed) }

    /// Counts the deliveries of an earlier process.
    ///
    /// - Throws: SQLite's error.
    package func countRows() async throws {
        let count = try await self.file.read { database in
            try Int.fetchOne(database, sql: "SELECT sum(deliveries) FROM tenants") ?? 0
        }
        self.known.rowCount.store(count, ordering: .relaxed)
    }

    /// The totals of a delivery, of one tenant or of each.
    package func totals(
        of delivery: String, tenant: String?
    ) async throws -> [DeliveryTotals] {
        try await self.file.read { try Self.totals(of: delivery, tenant: tenant, in: $0) }
    }

    /// The totals of several deliveries, of each tenant.
    package func totals(ofAny deliveries: [String]) async throws -> [DeliveryTotals] {
        if deliveries.isEmpty { return [] }
        return try await self.file.read { try Self.totals(ofAny: deliveries, in: $0) }
    }

    /// The totals that were put last, of each tenant.
    package func recentTotals(limit: Int) async throws -> [DeliveryTotals] {
        try await self.file.read { try Self.recentTotals(limit: limit, in: $0) }
    }

    /// What is left of the tenant's share.
    private struct Room {
        private let maxRows: Int
        private let tenants: Int
        /// The deliveries of all tenants.
        private(set) var used: Int
        private var part: Int

        init(of tenant: String, maxRows: Int, in database: Database) throws {
            let owner = Data(tenant.utf8)
            func number(_ sql: String) throws -> Int {
                try Int.fetchOne(
                    database, sql: "SELECT \(sql) FROM tenants WHERE tenant <> ?",
                    arguments: [owner]) ?? 0
            }
            self.maxRows = maxRows
            self.part =
                try Int.fetchOne(
                    database, sql: "SELECT deliveries FROM tenants WHERE tenant = ?",
                    arguments: [owner]) ?? 0
            self.used = self.part + (try number("sum(deliveries)"))
            self.tenants = try number("count(*)") + 1
        }

        mutating func take() -> Bool {
            let hasRoom = TenantShares.hasRoom(
                for: 1, part: self.part, used: self.used, tenants: self.tenants,
                bound: self.maxRows)
            guard hasRoom else { return false }
            (self.part, self.used) = (self.part + 1, self.used + 1)
            return true
        }
    }
}
