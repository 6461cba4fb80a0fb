package import TrackingJournal
internal import TrackingRules
internal import WireFormat

/// A delivery of a tenant, as the ledger has it.
package struct DeliveryPlace: Hashable, Sendable {
    let tenant: ExactText
    let delivery: ExactText

    /// Names a delivery.
    ///
    /// - Parameter delivery: its id, which the ledger cuts if it is long.
    package init(tenant: String, delivery: String) {
        self.tenant = ExactText(tenant)
        self.delivery = ExactText(Ledger.name(of: delivery))
    }

    /// The delivery of which totals were put.
    package init(_ totals: DeliveryTotals) {
        self.init(tenant: totals.tenant, delivery: totals.delivery)
    }
}

extension Ledger {
    /// A delivery's id as the ledger has it: the beginning of a long one.
    static func name(of delivery: String) -> String {
        guard delivery.utf8.count > LedgerSubject.nameBytes else { return delivery }
        return String(decoding: Self.cut(delivery, to: LedgerSubject.nameBytes), as: UTF8.self)
    }
}
