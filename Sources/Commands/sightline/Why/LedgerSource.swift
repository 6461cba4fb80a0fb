internal import DeliveryDiagnosis
internal import Foundation
internal import GRDB
internal import Storage
internal import TrackingJournal

/// The ledger of a data directory: a running server is asked through its socket, and of a stopped
/// one the files are read.
struct LedgerSource {
    let dataDirectory: String

    /// The accounts of a delivery: of one tenant, or of each that has it.
    ///
    /// - Throws: `AdminSocketError`, `DatabaseFileError`, `FileFormatError`, or SQLite's error.
    func accounts(of delivery: String, tenant: String?) async throws -> [DeliveryAccountLine] {
        try await self.read("/ledger", [("delivery", delivery), ("tenant", tenant)]) { ledger in
            ledger.accounts(of: delivery, tenant: tenant).map(DeliveryAccountLine.init)
        }
    }

    /// What is wrong with deliveries, the most events first.
    ///
    /// - Throws: the same.
    func troubles(
        tenant: String?, delivery: String?, limit: Int
    ) async throws -> [DeliveryTrouble] {
        try await self.read(
            "/ledger/troubles",
            [("delivery", delivery), ("tenant", tenant), ("limit", "\(limit)")]
        ) { ledger in ledger.troubles(tenant: tenant, delivery: delivery, limit: limit) }
    }

    private func read<Answer: Decodable>(
        _ path: String, _ query: [(name: String, value: String?)],
        _ answer: (Ledger) -> [Answer]
    ) async throws -> [Answer] {
        if let client = AdminSocketClient(dataDirectory: self.dataDirectory) {
            do {
                return try await client.get(path, query, as: [Answer].self)
            } catch AdminSocketError.unreachable {
                // A killed server has left its socket: its files are free.
            }
        }
        let database = try DatabaseFile.open(
            LedgerFile.path, in: self.dataDirectory, formatVersion: LedgerFile.formatVersion)
        return answer(try LedgerFile.ledger(in: database))
    }
}
