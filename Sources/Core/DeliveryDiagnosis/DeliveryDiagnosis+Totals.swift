internal import TrackingJournal
internal import TrackingRules

extension DeliveryDiagnosis {
    /// Whether the totals of a delivery differ from the facts of its recipients; nil where one of
    /// them is not there.
    ///
    /// Threshold: 20 messages, and a hundredth of the greater number.
    static func difference(
        of totals: DeliveryTotals?, from rows: [LedgerRow]
    ) -> DeliveryFinding? {
        guard let delivered = totals?.delivered.map(UInt64.init(clamping:)) else { return nil }
        var (facts, hasFacts): (UInt64, Bool) = (0, false)
        for row in rows {
            guard case .accepted(let kinds) = row.outcome.meaning else { continue }
            if !kinds.isDisjoint(with: .sends) { hasFacts = true }
            if kinds.contains(HitKinds(.sent)) { facts &+= row.count }
        }
        let (less, more) = (min(delivered, facts), max(delivered, facts))
        guard hasFacts, more - less >= Self.fewReports, more - less >= more / 100 else {
            return nil
        }
        return DeliveryFinding(
            code: .totalsDiffer,
            sentence: "\(delivered.grouped) messages were delivered by the totals that were put, "
                + "and \(facts.grouped) by the facts of their recipients, which the figures go by: "
                + "totals are of everybody, and facts of those with consent; or else facts are "
                + "missing, or the totals are old",
            figures: [
                .init(name: "difference", value: more - less),
                .init(name: "by_totals", value: delivered), .init(name: "by_facts", value: facts),
            ])
    }
}
