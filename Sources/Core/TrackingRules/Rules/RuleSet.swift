// The tracking rules D1…D64 as one pure function from an event and a policy to a judgement. They
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
        case .pushSend: judgement = self.judgePushSend(event, steps: &steps)
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

    // MARK: Form (D39, D41…D43, D50, D65)

    /// Every violation of the form rules: required fields and size limits.
    private func formViolations(of event: EventView, _ raw: RawPayload?) -> [Violation] {
        var violations: [Violation] = []
        if event.bytes.count > self.limits.eventBytes {
            violations.tooLarge("event", event.bytes.count, limit: self.limits.eventBytes)
        }
        violations.limit("event_id", event.eventID, to: Limits.idBytes)
        violations.limit("app_id", event.appID, to: Limits.nameBytes)
        violations.limit("subject_id", event.subjectID, to: Limits.nameBytes)
        violations.limit("app_version", event.appVersion, to: Limits.versionBytes)
        violations.limit("os_version", event.osVersion, to: Limits.versionBytes)
        violations.limit("sdk_version", event.sdkVersion, to: Limits.versionBytes)
        if let time = event.occurTime, time.microseconds == nil {
            violations.append(
                Violation(
                    "occur_time", .range,
                    "\(time.seconds) s and \(time.nanos) ns are outside Timestamp's range: send "
                        + "seconds from 0001 to 9999 and nanos from 0 to 999999999"))
        }
        switch event.interaction {
        case .none:
            violations.require(
                "interaction",
                "push, track_action, in_app or push_send says what happened: set one of them")
        case .push: self.addPushViolations(of: event, raw, to: &violations)
        case .trackAction: self.addViolations(of: event.trackAction, to: &violations)
        case .inApp: self.addViolations(of: event.inApp, in: event, to: &violations)
        case .pushSend: self.addViolations(of: event.pushSend, in: event, to: &violations)
        }
        return violations
    }

    // MARK: Consent (D22, D23, D27, D40)

    /// Whether consent is given, so that the event's content may be kept.
    func hasConsent(_ event: EventView) -> Bool {
        if event.inApp.dataCollectionEnabled == false { return false }
        var steps = NoSteps()
        return self.consentIsGiven(by: event, steps: &steps)
    }

    func consentIsGiven(by event: EventView, steps: inout some Steps) -> Bool {
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
}
