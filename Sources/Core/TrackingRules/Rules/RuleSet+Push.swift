// A push interaction: what it has to hold, and the hits that it gives.
internal import WireFormat

extension RuleSet {
    // MARK: Form (D39, D42, D43)

    func addPushViolations(
        of event: EventView, _ raw: RawPayload?, to violations: inout [Violation]
    ) {
        let fields = event.push.fields
        switch event.push.payload {
        case .none:
            violations.require(
                "push.payload", "apns, fcm or raw holds the payload: set one of them")
        case .fcm(let hasData):
            if hasData {
                violations.limit(
                    "push.fcm.data.custom_fields", fields.customFields, of: event.bytes)
            } else {
                violations.require("push.fcm.data", "the data message carries the ids: send it")
            }
            if Platform(number: event.platform) == .ios { violations.conflict("fcm", "IOS") }
        case .apns:
            violations.limit("push.apns.custom_fields", fields.customFields, of: event.bytes)
            violations.limit(
                "push.apns.aps.other_fields", fields.otherFields, of: event.bytes, .otherFields)
            if Platform(number: event.platform) == .android {
                violations.conflict("apns", "ANDROID")
            }
        case .raw: violations += raw?.violations ?? []
        }
        let kind = event.push.kind
        if kind == 0 {
            violations.require("push.kind", "RECEIVED, DISMISSED or OPENED: say what happened")
        } else if !(1...3).contains(kind) {
            violations.range("push.kind", kind, "1 (RECEIVED), 2 (DISMISSED) or 3 (OPENED)")
        }
        violations.limit(
            "push.action_identifier", event.push.actionIdentifier, to: Limits.nameBytes)
        violations.checkProduct("push.product", event.push.product)
    }

    // MARK: Judgement

    private static var apnsIDs: IDPlace {
        .fields(delivery: "push.apns.delivery_id", broadlog: "push.apns.message_id")
    }
    private static var fcmIDs: IDPlace {
        .fields(delivery: "push.fcm.data.delivery_id", broadlog: "push.fcm.data.message_id")
    }

    func judgePush(
        _ event: EventView, _ raw: RawPayload?, steps: inout some Steps
    ) -> Judgement {
        let (place, platform): (IDPlace, Platform)
        switch event.push.payload {
        case .apns: (place, platform) = (Self.apnsIDs, .ios)
        case .fcm(hasData: true): (place, platform) = (Self.fcmIDs, .android)
        case .raw:
            guard let raw, let target = raw.platform else { return .rejected([]) }
            (place, platform) = (raw.idPlace, target)
        case .none, .fcm(hasData: false): return .rejected([])  // Rejected by the form rules.
        }
        guard let product = Product(number: event.push.product) else { return .rejected([]) }
        let facts = CampaignFacts(
            deliveryID: event.push.fields.deliveryID, broadlogID: event.push.fields.messageID,
            place: place, flag: TrackingFlag(event.push.fields.flag, platform: platform),
            platform: platform, product: product, report: ("kind", event.push.kind),
            outcome: Self.pushHits(kind: event.push.kind, product: product))
        var judgement = self.judge(facts, of: event, steps: &steps)
        guard judgement.verdict == .accepted else { return judgement }
        if facts.flag == .absent, product == .standard { judgement.warnings.insert(.flagAssumedOn) }
        if platform == .ios, event.push.fields.hasMedia, event.push.fields.mutableContent != 1 {
            judgement.warnings.insert(.mediaWithoutMutableContent)
        }
        if raw?.hasUnpairedSurrogate == true {
            judgement.warnings.insert(.unpairedSurrogate)
            steps.note("payload: half of a surrogate pair, accepted with a warning (D58)")
        }
        if product == .standard, let place = Self.contradictingLink(in: event.push.fields) {
            judgement.warnings.insert(.linkContradictsIDs)
            steps.note("link: \(place) carries other ids, accepted with a warning (D56)")
        }
        if judgement.hits.contains(HitKinds(.impression)), !event.push.fields.isShown {
            judgement.warnings.insert(.nothingShown)
            steps.note("payload: no alert, title or body, accepted with a warning (D63)")
        }
        return judgement
    }

    /// The field with a tracked link whose ids are not the payload's; nil if there is none.
    private static func contradictingLink(in fields: PushView.PayloadView) -> StaticString? {
        func contradicts(_ link: Bytes) -> Bool {
            guard !link.isEmpty, let tracked = TrackedLink(link) else { return false }
            return tracked.contradicts(deliveryID: fields.deliveryID, messageID: fields.messageID)
        }
        if contradicts(fields.uri) { return "uri" }
        return contradicts(fields.sound) ? "sound" : nil
    }

    /// The hits of a push interaction, by product (D9, D12, D14, D21).
    private static func pushHits(kind: Int32, product: Product) -> Judgement {
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
}
