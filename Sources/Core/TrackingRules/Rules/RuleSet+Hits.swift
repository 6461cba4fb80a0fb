// The hits of a push interaction, by product (D9, D12, D14, D21).

extension RuleSet {
    static func pushHits(kind: Int32, product: Product) -> Judgement {
        switch (kind, product) {
        case (1, _): .accepted(HitKinds(.impression))
        case (2, .classic):
            .rejected([
                Violation(
                    "push.kind", .conflict,
                    "DISMISSED is not counted by Campaign Classic: send RECEIVED or OPENED")
            ])
        case (2, _): .accepted(HitKinds(.click), isDismissal: true)
        case (_, .classic): .accepted(HitKinds(.click))
        default: .accepted([HitKinds(.click), HitKinds(.open)])
        }
    }

    static func actionHits(action: Int32, product: Product) -> Judgement {
        switch (action, product) {
        case (1, .classic): .accepted(HitKinds(.impression))
        case (2, _): .accepted(HitKinds(.click))
        case (_, .classic):
            .rejected([
                Violation(
                    "track_action.action", .conflict,
                    "\(action) means nothing to Campaign Classic: send 1 (received) or 2 (click)")
            ])
        case (1, _): .accepted(HitKinds(.open))
        case (3, _): .accepted(HitKinds(.button1))
        case (4, _): .accepted(HitKinds(.button2))
        case (5, _): .accepted(HitKinds(.close))
        default: .accepted(HitKinds(.impression))
        }
    }
}

extension Judgement {
    fileprivate static func accepted(_ hits: HitKinds, isDismissal: Bool = false) -> Judgement {
        Judgement(verdict: .accepted, hits: hits, isDismissal: isDismissal)
    }

    /// The judgement as text for ExplainEvents.
    var outcome: String {
        self.verdict == .accepted
            ? self.hits.kinds.map { "\($0.name)" }.joined(separator: ", then ")
            : "\(self.verdict)"
    }
}
