internal import Synchronization
package import TrackingLedger

extension Journal {
    /// What the ledger has of a tenant's delivery. Its rows are read between two commits.
    package func account(of delivery: String, tenant: String) async -> DeliveryAccount {
        DeliveryAccount(
            await self.onQueue {
                DeliveryAccount.Source(of: delivery, tenant: tenant, in: self.writer.ledger)
            })
    }

    /// The ledger as it is now. The next commit copies its table, so ask seldom.
    package func ledger() async -> Ledger { await self.onQueue { self.writer.ledger } }

    /// The number of rows in the ledger.
    package var ledgerRowCount: Int { self.writer.ledgerRows.load(ordering: .relaxed) }
}
