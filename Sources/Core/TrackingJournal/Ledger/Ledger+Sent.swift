internal import TrackingRules

extension Ledger {
    /// The deliveries whose totals are compared with what their senders have told.
    package static let maxCompared = 1000

    /// The deliveries of which a sender has told something, by id: those with the newest rows, if
    /// there are more. An id that several tenants have stands once.
    ///
    /// - Parameter limit: the maximum number of deliveries.
    package func sentDeliveries(limit: Int = Self.maxCompared) -> [String] {
        var seen: Set<LedgerText> = []
        for count in self.newestCounts {
            guard seen.count < limit else { break }
            guard case .accepted(let kinds) = count.key.outcome.meaning,
                kinds.rawValue & HitKinds.sends.rawValue != 0, !count.key.delivery.isEmpty
            else { continue }
            seen.insert(LedgerText(count.key.delivery))
        }
        return seen.sorted().map(\.text)
    }
}
