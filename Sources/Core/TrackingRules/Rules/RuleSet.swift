// The tracking rules D1…D56 as one pure function from an event and a policy to a judgement. They
// apply in the order form, consent, flag, ids, product; the first that refuses decides the verdict.
internal import WireFormat

/// The tracking rules with the operator's policy and limits. Admission calls `judge` for every
/// event; ExplainEvents calls it with `RecordedSteps` to show why.
///
/// It is a pure function: it reads no clock and no earlier event, so the same event at the same
/// receive time always gets the same judgement. Whether a fact was reported before is for the
/// window to find.
package struct RuleSet: Sendable {
    /// The operator's choices.
    package let policy: Policy
    /// The size limits.
    package let limits: Limits

    /// Creates the rules with `policy` and `limits`.
    package init(policy: Policy = Policy(), limits: Limits = Limits()) {
        self.policy = policy
        self.limits = limits
    }

    /// Judges one event.
    ///
    /// - Parameters:
    ///   - event: the event, read in place.
    ///   - receiveTime: the server's clock, in microseconds since 1970.
    ///   - steps: records each decision and its reason.
    package func judge(
        _ event: EventView, receiveTime: Int64, steps: inout some Steps
    ) -> Judgement {
        event.withRawPayload(self.limits) { event, raw in
            self.judge(event, raw, receiveTime: receiveTime, steps: &steps)
        }
    }

    /// Judges an event whose raw payload, if it has one, was read.
    func judge(
        _ event: EventView, _ raw: RawPayload?, receiveTime: Int64, steps: inout some Steps
    ) -> Judgement {
        let violations = self.formViolations(of: event, raw)
        guard violations.isEmpty else {
            steps.note("form: \(violations.count) violation(s), so it is rejected")
            return .rejected(violations)
        }
        steps.note("form: complete, and within every limit")
        if let raw { steps.note("payload: raw, its keys are read \(raw.place.name)") }

        var judgement: Judgement
        switch event.interaction {
        case .none: return .rejected([])  // The form rules have rejected a missing interaction.
        case .push: judgement = self.judgePush(event, raw, steps: &steps)
        case .trackAction: judgement = self.judgeTrackAction(event, steps: &steps)
        case .inApp: judgement = self.judgeInApp(event, steps: &steps)
        }
        if judgement.verdict == .accepted, Self.isSkewed(event.occurTime, from: receiveTime) {
            judgement.warnings.insert(.clockSkew)
            steps.note("clock: occur_time is far from the server's, accepted with a warning (D41)")
        }
        return judgement
    }

    /// Whether the time is more than 5 minutes ahead of the server's clock or more than 30 days
    /// behind it (D41).
    private static func isSkewed(_ occurTime: EventView.OccurTime?, from now: Int64) -> Bool {
        guard let time = occurTime, !time.isZero, let micros = time.microseconds else {
            return false
        }
        let behind = now.subtractingReportingOverflow(micros).partialValue
        return behind < -5 * 60 * 1_000_000 || behind > 30 * 86_400 * 1_000_000
    }

    // MARK: Consent (D22, D23, D27, D40)

    /// Whether consent is given, so that the event's content may be kept.
    func hasConsent(_ event: EventView) -> Bool {
        if event.inApp.dataCollectionEnabled == false { return false }
        var steps = NoSteps()
        return self.consentIsGiven(by: event, steps: &steps)
    }

    private func consentIsGiven(by event: EventView, steps: inout some Steps) -> Bool {
        switch event.consent {
        case 1:
            steps.note("consent: opted in")
            return true
        case 0:
            let given = self.policy.trackUnspecifiedConsent
            steps.note(
                "consent: not said, rules.default_consent takes it as \(given ? "in" : "out") (D22)"
            )
            return given
        case let number:
            steps.note("consent: \(number) is not opted in, so nothing is tracked (D22, D40)")
            return false
        }
    }

    // MARK: The three interactions

    /// What the rules need from an interaction with a Campaign push, of either message type.
    private struct CampaignFacts {
        let deliveryID: Bytes
        let broadlogID: Bytes
        let place: IDPlace
        let flag: TrackingFlag
        let platform: Platform
        let product: Product
        /// The kind or action with its number, as text for the steps.
        let report: (word: StaticString, number: Int32)
        /// The judgement for the product, if no earlier rule refuses the event.
        let outcome: Judgement
    }

    private func judgePush(
        _ event: EventView, _ raw: RawPayload?, steps: inout some Steps
    ) -> Judgement {
        let (place, platform): (IDPlace, Platform)
        switch event.push.payload {
        case .apns: (place, platform) = (.apns, .ios)
        case .fcm(hasData: true): (place, platform) = (.fcm, .android)
        case .raw:
            guard let raw, let target = raw.platform else { return .rejected([]) }
            (place, platform) = (.raw(raw.place), target)
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
        if product == .standard, !event.push.fields.uri.isEmpty,
            TrackedLink(event.push.fields.uri)?.contradicts(
                deliveryID: facts.deliveryID, messageID: facts.broadlogID) == true
        {
            judgement.warnings.insert(.linkContradictsIDs)
            steps.note("link: uri carries other ids, accepted with a warning (D56)")
        }
        return judgement
    }

    private func judgeTrackAction(_ event: EventView, steps: inout some Steps) -> Judgement {
        let action = event.trackAction
        guard let product = Product(number: action.product) else { return .rejected([]) }
        // A track action has no payload: the event's platform decides, with Android as the default
        // (D7).
        let platform = Platform(number: event.platform) ?? .android
        let facts = CampaignFacts(
            deliveryID: action.deliveryID, broadlogID: action.broadlogID, place: .trackAction,
            flag: TrackingFlag(action.flag, platform: platform), platform: platform,
            product: product, report: ("action", action.action),
            outcome: Self.actionHits(action: action.action, product: product))
        return self.judge(facts, of: event, steps: &steps)
    }

    /// Applies consent, flag, id and product rules in this order.
    private func judge(
        _ facts: CampaignFacts, of event: EventView, steps: inout some Steps
    ) -> Judgement {
        guard self.consentIsGiven(by: event, steps: &steps) else {
            return .suppressed(.suppressedConsent)
        }
        steps.note("flag: \(facts.flag.explanation)")
        if let verdict = facts.flag.suppression { return .suppressed(verdict) }
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
        if facts.platform == .ios, judgement.hits.contains(HitKinds(.impression)) {
            judgement.warnings.insert(.impressionUnreliable)
        }
        return judgement
    }

    private func judgeInApp(_ event: EventView, steps: inout some Steps) -> Judgement {
        let message = event.inApp
        guard self.consentIsGiven(by: event, steps: &steps) else {
            return .suppressed(.suppressedConsent)
        }
        if message.dataCollectionEnabled == false {
            steps.note("consent: data collection is off for this recipient (D27)")
            return .suppressed(.suppressedConsent)
        }
        if message.isTestMessage, !self.policy.recordTestMessages {
            steps.note("test message, and rules.record_test_messages is off (D28)")
            return .suppressed(.suppressedTestMessage)
        }
        if message.isDisplaySuppressed {
            steps.note("display was suppressed, so nobody saw it (D26)")
            return .suppressed(.suppressedDisplay)
        }
        let kind: HitKind
        switch message.event {
        case .impression: kind = .inAppImpression
        case .click(hasURL: true): kind = .inAppClick
        case .click(hasURL: false), .dismissal: kind = .inAppDismissal
        case .displayError: kind = .inAppDisplayError
        case .none: return .rejected([])  // Rejected by the form rules.
        }
        steps.note("in-app message: counts as \(kind.name)")
        return Judgement(verdict: .accepted, hits: HitKinds(kind))
    }
}

/// The operating system of a device; the numbers are those of the proto enum.
package enum Platform: Int32, Sendable, CaseIterable {
    case android = 1
    case ios = 2

    /// The name in databases and in the configuration.
    package var name: String {
        switch self {
        case .android: "android"
        case .ios: "ios"
        }
    }

    /// The platform with `number`; nil if it is unspecified or unknown (D39).
    package init?(number: Int32) { self.init(rawValue: number) }
}
