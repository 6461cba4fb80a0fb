internal import DeliveryDiagnosis
internal import Foundation
internal import GRDB
internal import Storage
internal import TrackingJournal

/// The ledger of a data directory. A running server is asked through its socket; a stopped server's
/// files are read directly.
struct LedgerSource {
    let dataDirectory: String

    /// The accounts of a delivery: of one tenant, or of each tenant that has rows of it.
    ///
    /// - Throws: `AdminSocketError`, `DatabaseFileError`, `FileFormatError`, or SQLite's error.
    func accounts(of delivery: String, tenant: String?) async throws -> [DeliveryAccountLine] {
        try await self.read("/ledger", [("delivery", delivery), ("tenant", tenant)]) { ledger in
            let totals = try self.totals { database in
                try DeliveryTotalsFile.totals(of: delivery, tenant: tenant, in: database)
            }
            return ledger.accounts(of: delivery, tenant: tenant, totals: totals)
                .map(DeliveryAccountLine.init)
        }
    }

    /// What tenants have put of deliveries, from the files of a stopped server.
    private func totals(
        _ read: (Database) throws -> [DeliveryTotals]
    ) throws -> [DeliveryTotals] {
        do {
            return try DeliveryNamesFile.database(in: self.dataDirectory).read(read)
        } catch DatabaseFileError.missing {
            // A server of an earlier build.
            return []
        }
    }

    /// The deliveries that somebody may mean who asked for one that is not there.
    ///
    /// - Throws: the same errors.
    func candidates(
        like text: String, tenant: String?
    ) async throws -> [DeliverySearch.Candidate] {
        try await self.read("/ledger/candidates", [("like", text), ("tenant", tenant)]) { ledger in
            ledger.candidates(of: DeliverySearch(text), tenant: tenant)
        }
    }

    /// The findings on deliveries, those with the most events first.
    ///
    /// - Throws: the same errors.
    func troubles(
        tenant: String?, delivery: String?, limit: Int
    ) async throws -> [DeliveryTrouble] {
        try await self.read(
            "/ledger/troubles",
            [("delivery", delivery), ("tenant", tenant), ("limit", "\(limit)")]
        ) { ledger in
            let totals = try self.totals { database in
                try DeliveryTotalsFile.totals(
                    ofAny: ledger.deliveriesToCompare(delivery), in: database)
            }
            return ledger.troubles(
                tenant: tenant, delivery: delivery, limit: limit, totals: totals)
        }
    }

    /// The deliveries of which a version differs from the others, those with the most events first.
    ///
    /// - Throws: the same errors.
    func versionSplits(
        tenant: String?, delivery: String?, limit: Int
    ) async throws -> [VersionSplit] {
        try await self.read(
            "/ledger/versions",
            [("delivery", delivery), ("tenant", tenant), ("limit", "\(limit)")]
        ) { ledger in ledger.versionSplits(tenant: tenant, delivery: delivery, limit: limit) }
    }

    private func read<Answer: Decodable>(
        _ path: String, _ query: [(name: String, value: String?)],
        _ answer: (Ledger) throws -> [Answer]
    ) async throws -> [Answer] {
        if let client = AdminSocketClient(dataDirectory: self.dataDirectory) {
            do {
                return try await client.get(path, query, as: [Answer].self)
            } catch AdminSocketError.unreachable {
                // A killed server leaves its socket; its files can be read.
            }
        }
        let database = try DatabaseFile.open(
            LedgerFile.path, in: self.dataDirectory, formatVersion: LedgerFile.formatVersion)
        return try answer(try LedgerFile.ledger(in: database))
    }
}
