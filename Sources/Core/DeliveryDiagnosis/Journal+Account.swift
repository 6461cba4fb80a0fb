package import TrackingJournal

extension Journal {
    /// The account of a tenant's delivery. Its rows are read between two commits.
    package func account(of delivery: String, tenant: String) async -> DeliveryAccount {
        DeliveryAccount(
            await self.withLedger {
                DeliveryAccount.Source(of: delivery, tenant: tenant, in: $0)
            })
    }
}
