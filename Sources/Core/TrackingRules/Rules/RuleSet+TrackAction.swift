// A track action: what it has to hold, and the hits that it gives.
internal import WireFormat

extension RuleSet {
    func addViolations(of action: TrackActionView, to violations: inout [Violation]) {
        if action.action == 0 {
            violations.require("track_action.action", "the action says what happened: set it")
        } else if !(1...5).contains(action.action), action.action != 7 {
            violations.range("track_action.action", action.action, "1 to 5, or 7")
        }
        violations.checkProduct("track_action.product", action.product)
    }

    func judgeTrackAction(_ event: EventView, steps: inout some Steps) -> Judgement {
        let action = event.trackAction
        guard let product = Product(number: action.product) else { return .rejected([]) }
        // A track action has no payload: the event's platform decides, with Android as the default
        // (D7).
        let platform = Platform(number: event.platform) ?? .android
        let facts = CampaignFacts(
            deliveryID: action.deliveryID, broadlogID: action.broadlogID,
            place: Self.trackActionIDs,
            flag: TrackingFlag(action.flag, platform: platform), platform: platform,
            product: product, report: ("action", action.action),
            outcome: Self.actionHits(action: action.action, product: product))
        return self.judge(facts, of: event, steps: &steps)
    }

    private static var trackActionIDs: IDPlace {
        .fields(delivery: "track_action.delivery_id", broadlog: "track_action.broadlog_id")
    }

    /// The hits of a track action, by product (D9, D12, D14, D21).
    private static func actionHits(action: Int32, product: Product) -> Judgement {
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
