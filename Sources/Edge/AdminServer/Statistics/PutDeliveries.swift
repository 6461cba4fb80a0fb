internal import AdminProtocol
internal import DeliveryDiagnosis
internal import TrackingJournal

/// What tenants have put of deliveries, as far as the page shows it: the totals of those that the
/// ledger has, and those that were put last. Both are found by an index, once for each reading of
/// the ledger: of 100,000 deliveries, 1,000 by their ids in 16 ms.
struct PutDeliveries {
    private var known: [DeliveryPlace: DeliveryTotals] = [:]
    private let recent: [DeliveryTotals]

    /// The deliveries that may be shown without a hit: together with the busiest ones as many as
    /// these. So where there is room, the busiest are all that have a hit.
    static let maxRecent = LedgerReading.maxBusiest

    /// Creates it from what was read of deliveries.db; from nothing by default.
    init(known: [DeliveryTotals] = [], recent: [DeliveryTotals] = []) {
        for totals in known { self.known[DeliveryPlace(totals)] = totals }
        self.recent = recent
    }

    /// Reads what is needed for a ledger and the funnels of its busiest deliveries.
    init(of ledger: Ledger, _ funnels: Ledger.Funnels, in store: any DeliveryTotalsStoring) async {
        let ids = ledger.deliveriesToCompare() + funnels.busiest.map(\.delivery)
        self.init(
            known: await store.known(ofAny: ids),
            recent: await store.recentlyPut(limit: Self.maxRecent))
    }

    /// The totals of the ledger's deliveries.
    var totals: [DeliveryTotals] { Array(self.known.values) }

    /// The name that a delivery was given; nil if it has none.
    func name(of delivery: String, tenant: String) -> String? {
        self.known[DeliveryPlace(tenant: tenant, delivery: delivery)]?.name
    }

    /// The deliveries that were put last and of which nobody has reported anything, as many as
    /// there is room for.
    func withoutHits(_ funnels: Ledger.Funnels, room: Int) -> [DeliveryTotals] {
        let seen = Set(
            funnels.busiest.map { DeliveryPlace(tenant: $0.tenant, delivery: $0.delivery) })
        return Array(
            self.recent.filter { !seen.contains(DeliveryPlace($0)) }.prefix(max(0, room)))
    }
}

extension Statistics.Totals {
    /// The totals of a delivery, on all platforms.
    init(_ totals: DeliveryTotals) {
        self.init(
            tenant: totals.tenant, deliveryId: totals.delivery, name: totals.name,
            sent: totals.sent, delivered: totals.delivered, failed: totals.failed)
    }
}
