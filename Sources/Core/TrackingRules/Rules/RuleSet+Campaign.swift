// The tracking rules D1…D64 as one pure function from an event and a policy to a judgement. They
// apply in the order form, consent, flag, ids, product; the first that refuses decides the verdict.
internal import WireFormat

extension RuleSet {
    /// What the rules need from an interaction with a Campaign push, of either message type.
    struct CampaignFacts {
        let deliveryID: Bytes
        let broadlogID: Bytes
        let place: IDPlace
        /// The tracking flag; nil if it has no say, as in a sender's facts (D59).
        let flag: TrackingFlag?
        /// The platform; nil if it is unknown and no rule needs it.
        let platform: Platform?
        let product: Product
        /// The kind or action with its number, as text for the steps.
        let report: (word: StaticString, number: Int32)
        /// The judgement for the product, if no earlier rule refuses the event.
        let outcome: Judgement
    }

    /// Applies consent, flag, id and product rules in this order.
    func judge(
        _ facts: CampaignFacts, of event: EventView, steps: inout some Steps
    ) -> Judgement {
        guard self.consentIsGiven(by: event, steps: &steps) else {
            return .suppressed(.suppressedConsent)
        }
        if let flag = facts.flag {
            steps.note("flag: \(flag.explanation)")
            if let verdict = flag.suppression { return .suppressed(verdict) }
        } else {
            steps.note("flag: not asked, for it is about what apps report (D59)")
        }
        let areStandard = Self.areStandardIDs(facts.deliveryID, facts.broadlogID)
        let violations =
            areStandard
            ? [] : Self.idViolations(facts.deliveryID, facts.broadlogID, in: facts.place)
        guard violations.isEmpty else {
            steps.note("ids: not usable, so it is rejected (D10, D11)")
            return .rejected(violations)
        }
        steps.note("ids: usable")
        var judgement = facts.outcome
        steps.note(
            "product: \(facts.product), \(facts.report.word) \(facts.report.number): "
                + judgement.outcome)
        guard judgement.verdict == .accepted else { return judgement }
        if facts.product == .standard, !areStandard { judgement.warnings.insert(.idNotHex) }
        if facts.deliveryID.isPlaceholder || facts.broadlogID.isPlaceholder {
            judgement.warnings.insert(.idPlaceholder)
            steps.note("ids: one is a placeholder, accepted with a warning (D57)")
        }
        if facts.platform == .ios, judgement.hits.contains(HitKinds(.impression)) {
            judgement.warnings.insert(.impressionUnreliable)
        }
        return judgement
    }
}
