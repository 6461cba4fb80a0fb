// A sender's fact: what it has to hold, and the hit that it gives (D59…D62).
internal import WireFormat

extension RuleSet {
    func addViolations(
        of send: PushSendView, in event: EventView, to violations: inout [Violation]
    ) {
        let outcome = SendOutcome(rawValue: send.outcome)
        if send.outcome == 0 {
            violations.require(
                "push_send.outcome", "SENT, FAILED or SKIPPED: say what became of it")
        } else if outcome == nil {
            violations.range(
                "push_send.outcome", send.outcome, "1 (SENT), 2 (FAILED) or 3 (SKIPPED)")
        }
        if !(0...SendReason.last).contains(send.reason) {
            violations.range("push_send.reason", send.reason, "1 to \(SendReason.last)")
        } else if outcome == .sent, send.reason != 0 {
            violations.append(
                Violation(
                    "push_send.reason", .conflict,
                    "\(send.reason) is a reason for not sending, and the outcome is SENT: leave it "
                        + "out, or send FAILED or SKIPPED"))
        } else if outcome != nil, outcome != .sent, send.reason == 0 {
            violations.require(
                "push_send.reason", "why it was not sent: send it, or 11 (OTHER) if none fits")
        }
        if !(0...3).contains(send.display) {
            violations.range(
                "push_send.display", send.display, "0, 1 (SYSTEM), 2 (APP) or 3 (SILENT)")
        }
        if send.attempt < 0 {
            violations.append(
                Violation(
                    "push_send.attempt", .range,
                    "\(send.attempt): count attempts from 1, or leave it out"))
        }
        violations.limit("push_send.provider_code", send.providerCode, to: Limits.idBytes)
        violations.limit(
            "push_send.provider_message_id", send.providerMessageID, to: Limits.nameBytes)
        violations.checkProduct("push_send.product", send.product)
        violations.refuseTokens(of: event)
    }

    func judgePushSend(_ event: EventView, steps: inout some Steps) -> Judgement {
        let send = event.pushSend
        guard let product = Product(number: send.product),
            let outcome = SendOutcome(rawValue: send.outcome)
        else { return .rejected([]) }  // Rejected by the form rules.
        let facts = CampaignFacts(
            deliveryID: send.deliveryID, broadlogID: send.broadlogID, place: Self.pushSendIDs,
            flag: nil, platform: Platform(number: event.platform), product: product,
            report: ("outcome", send.outcome), outcome: .accepted(HitKinds(outcome.hit)))
        return self.judge(facts, of: event, steps: &steps)
    }

    private static var pushSendIDs: IDPlace {
        .fields(delivery: "push_send.delivery_id", broadlog: "push_send.broadlog_id")
    }
}

/// What became of an attempt to send a push; the numbers are those of the proto enum.
package enum SendOutcome: Int32, Sendable, CaseIterable {
    case sent = 1
    case failed = 2
    case skipped = 3

    /// The kind of its hit (D59).
    package var hit: HitKind {
        switch self {
        case .sent: .sent
        case .failed: .sendFailed
        case .skipped: .sendSkipped
        }
    }
}
