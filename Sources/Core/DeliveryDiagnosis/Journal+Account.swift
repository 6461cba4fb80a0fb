package import TrackingJournal

extension Journal {
    /// The account of a tenant's delivery. Its rows are read between two commits.
    ///
    /// - Parameter totals: what the tenant has put of the delivery; nil if it has not.
    package func account(
        of delivery: String, tenant: String, totals: DeliveryTotals? = nil
    ) async -> DeliveryAccount {
        var source = await self.withLedger {
            DeliveryAccount.Source(of: delivery, tenant: tenant, in: $0)
        }
        source.totals = totals
        return DeliveryAccount(source)
    }
}
