// Form, consent, flag, ids, product: the first rule that fails gives the verdict.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct OrderOfRulesTests {
    /// A change that makes an event fail at one stage, and the outcome unless an earlier one fails.
    typealias Flaw = (change: @Sendable (inout TestEvent) -> Void, outcome: String)

    /// A flaw for each stage, in the order of the stages.
    private static let pushFlaws: [Flaw] = [
        ({ $0.appID = String(repeating: "a", count: 257) }, "rejected: app_id too_large"),
        ({ $0.consent = .optedOut }, "suppressed_consent"),
        ({ $0.push.fcm.data.acsDeliveryTracking = "off" }, "suppressed_flag_off"),
        (
            { $0.push.fcm.data.deliveryID = "a b" },
            "rejected: push.fcm.data.delivery_id format"
        ),
        ({ $0.push.product = .classic }, "rejected: push.kind conflict"),
    ]

    private static let actionFlaws: [Flaw] = [
        ({ $0.occurTime.nanos = -1 }, "rejected: occur_time range"),
        ({ $0.consent = .unknown }, "suppressed_consent"),
        ({ $0.trackAction.acsDeliveryTracking = "ON" }, "suppressed_flag_unknown"),
        ({ $0.trackAction.broadlogID = "" }, "rejected: track_action.broadlog_id required"),
        ({ $0.trackAction.product = .classic }, "rejected: track_action.action conflict"),
    ]

    /// Each row has the flaws of its stage and of all later ones.
    private static func rows(_ event: TestEvent, _ flaws: [Flaw]) -> [RuleRow] {
        flaws.indices.map { first in
            var event = event
            for flaw in flaws[first...] { flaw.change(&event) }
            return RuleRow("flaws from stage \(first)", event, flaws[first].outcome)
        }
    }

    @Test(
        "D23, D39, D48: form → consent → flag → ids → product, for a push",
        arguments: rows(.fcm(.dismissed), pushFlaws))
    func push(row: RuleRow) throws {
        try row.check()
    }

    @Test(
        "D23, D39, D48: form → consent → flag → ids → product, for a track action",
        arguments: rows(.action(.impression), actionFlaws))
    func trackAction(row: RuleRow) throws {
        try row.check()
    }

    @Test("The steps tell of every stage that was reached, in order")
    func explanation() throws {
        var steps = RecordedSteps()
        let event = TestEvent.apns(.opened) {
            $0.push.apns.clearAcsDeliveryTracking()
            $0.consent = .unspecified
            $0.occurTime.seconds = 1
        }
        _ = try event.judged(by: RuleSet(), steps: &steps)
        let expected = [
            ("form:", "complete"), ("consent:", "D22"), ("flag:", "D3"), ("ids:", "usable"),
            ("product:", "click, then open"), ("clock:", "D41"),
        ]
        try #require(steps.steps.count == expected.count, "\(steps.steps)")
        for (step, (stage, words)) in zip(steps.steps, expected) {
            #expect(step.hasPrefix(stage) && step.contains(words), "\(step)")
        }
    }

    private static let lastSteps: [(TestEvent, String)] = [
        (.fcm(.unspecified), "form: 1 violation"),
        (.fcm(.opened) { $0.consent = .optedOut }, "consent: 2 is not opted in"),
        (.fcm(.opened) { $0.push.fcm.data.acsDeliveryTracking = "off" }, "flag: off"),
        (.fcm(.opened) { $0.push.fcm.data.acsDeliveryTracking = "?" }, "flag: neither on nor off"),
        (.action(.open) { $0.trackAction.deliveryID = "" }, "ids: not usable"),
        (.action(.open, .classic), "product: classic, action 1: impression"),
        (.action(.close, .classic), "product: classic, action 5: rejected"),
        (.inApp { $0.inApp.testMessage = true }, "test message"),
        (.inApp { $0.inApp.displaySuppressed = true }, "display was suppressed"),
        (.inApp { $0.inApp.dataCollectionEnabled = false }, "consent: data collection is off"),
        (.inApp(), "in-app message: counts as in_app_impression"),
    ]

    @Test("The last step is the one that spoke", arguments: 0..<11)
    func lastStep(index: Int) throws {
        var steps = RecordedSteps()
        let (event, words) = Self.lastSteps[index]
        _ = try event.judged(by: RuleSet(), steps: &steps)
        #expect(try #require(steps.steps.last).hasPrefix(words), "\(steps.steps)")
    }
}
