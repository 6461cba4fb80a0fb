// An in-app interaction: what it has to hold, and the hit that it gives.
internal import WireFormat

extension RuleSet {
    func addViolations(
        of message: InAppView, in event: EventView, to violations: inout [Violation]
    ) {
        if message.event == .none {
            violations.require(
                "in_app.event",
                "impression, click, dismissal, display_error, triggered or suppressed: set one of "
                    + "them")
        }
        if message.messageID.isEmpty {
            violations.require("in_app.message_id", "the campaign's message id: send it")
        }
        if event.eventID.isEmpty, event.occurTime?.isZero ?? true {
            violations.require(
                "occur_time", "in-app facts are told apart by event_id or occur_time: send either")
        }
        violations.limit("in_app.message_id", message.messageID, to: Limits.nameBytes)
        violations.limit("in_app.campaign_name", message.campaignName, to: Limits.nameBytes)
        violations.limit("in_app.trigger_event", message.triggerEvent, to: Limits.nameBytes)
        violations.limit("in_app.app_data", message.appData, of: event.bytes)
        if !(0...3).contains(message.triggerKind) {
            violations.range(
                "in_app.trigger_kind", message.triggerKind,
                "0, 1 (ANALYTICS_EVENT), 2 (FOREGROUND) or 3 (APP)")
        }
        if !(0...4).contains(message.layout) {
            violations.range(
                "in_app.layout", message.layout,
                "0, 1 (CARD), 2 (MODAL), 3 (BANNER) or 4 (IMAGE)")
        }
        self.addViolations(of: message.displayError, to: &violations)
    }

    private func addViolations(
        of error: InAppView.DisplayError, to violations: inout [Violation]
    ) {
        if !(0...3).contains(error.fetchReason) {
            violations.range(
                "in_app.display_error.fetch_reason", error.fetchReason,
                "0, 1 (SERVER), 2 (CLIENT) or 3 (NETWORK)")
        } else if error.fetchReason != 0, error.reason != 0 {
            violations.append(
                Violation(
                    "in_app.display_error.fetch_reason", .conflict,
                    "\(error.fetchReason) beside reason \(error.reason): a message that was not "
                        + "fetched was not rendered, send one of them"))
        }
        violations.limit("in_app.display_error.detail", error.detail, to: Limits.nameBytes)
    }

    func judgeInApp(_ event: EventView, steps: inout some Steps) -> Judgement {
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
        if message.isDisplaySuppressed, message.event != .suppressed {
            steps.note("display was suppressed, so nobody saw it (D26)")
            return .suppressed(.suppressedDisplay)
        }
        let kind: HitKind
        switch message.event {
        case .impression: kind = .inAppImpression
        case .click(hasURL: true): kind = .inAppClick
        case .click(hasURL: false), .dismissal: kind = .inAppDismissal
        case .displayError: kind = .inAppDisplayError
        case .triggered: kind = .inAppTriggered
        case .suppressed: kind = .inAppSuppressed
        case .none: return .rejected([])  // Rejected by the form rules.
        }
        steps.note("in-app message: counts as \(kind.name)")
        var judgement = Judgement.accepted(HitKinds(kind))
        if message.messageID.isPlaceholder {
            judgement.warnings.insert(.idPlaceholder)
            steps.note("ids: message_id is a placeholder, accepted with a warning (D57)")
        }
        return judgement
    }
}
