// Consent: who agreed, what an unsaid consent means, and that a person who said no leaves nothing.

internal import ConfigurationKeys
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct ConsentRulesTests {
    private static let strict = Policy.with { $0.trackUnspecifiedConsent = false }
    private static let refused = "suppressed_consent"

    /// One event of each interaction, with the outcome under a consent that is given.
    private static let events: [(event: TestEvent, accepted: String)] = [
        (.apns(.dismissed), "accepted: click"), (.fcm(.opened), "accepted: click, open"),
        (.action(.button1), "accepted: button_1"), (.inApp(), "accepted: in_app_impression"),
    ]

    private static let rows: [RuleRow] = events.flatMap { event, accepted in
        let outcomes: [(Sightline_V1_Consent, lenient: String, strict: String)] = [
            (.optedIn, accepted, accepted), (.unspecified, accepted, refused),
            (.optedOut, refused, refused), (.unknown, refused, refused),
            (.UNRECOGNIZED(4), refused, refused), (.UNRECOGNIZED(-1), refused, refused),
            (.UNRECOGNIZED(.init(Int32.max)), refused, refused),
        ]
        return outcomes.flatMap { consent, lenient, strict in
            var event = event
            event.consent = consent
            let name = "\(accepted) under consent \(consent.rawValue)"
            return [
                RuleRow(name, event, lenient),
                RuleRow(name + ", default out", event, strict, policy: Self.strict),
            ]
        }
    }

    @Test(
        "D22, D40: only an opted-in consent is tracked; unsaid, the policy decides", arguments: rows
    )
    func consent(row: RuleRow) throws {
        try row.check()
    }

    @Test(
        "D22: rules.default_consent says what unsaid consent counts as",
        arguments: [("opted_in", "accepted: click, open"), ("unknown", "suppressed_consent")])
    func defaultConsent(value: String, outcome: String) throws {
        let key = try #require(Policy.keys.first { $0.name == "rules.default_consent" })
        for before in [true, false] {
            var policy = Policy.with { $0.trackUnspecifiedConsent = before }
            key.set(value, &policy)
            let event = TestEvent.fcm(.opened) { $0.consent = .unspecified }
            try RuleRow(value, event, outcome, policy: policy).check()
        }
    }

    private static let collectionRows: [RuleRow] = [
        RuleRow(
            "off", .inApp { $0.inApp.dataCollectionEnabled = false }, "suppressed_consent"),
        RuleRow(
            "off, though opted in and a test message",
            .inApp {
                $0.inApp.dataCollectionEnabled = false
                $0.inApp.testMessage = true
            }, "suppressed_consent"),
        RuleRow(
            "on", .inApp { $0.inApp.dataCollectionEnabled = true }, "accepted: in_app_impression"),
        RuleRow(
            "on is no consent",
            .inApp {
                $0.inApp.dataCollectionEnabled = true
                $0.consent = .optedOut
            }, "suppressed_consent"),
    ]

    @Test(
        "D27: data collection that is off suppresses for want of consent", arguments: collectionRows
    )
    func dataCollection(row: RuleRow) throws {
        try row.check()
    }

    private static let longSubject = String(repeating: "secret-subject", count: 30)
    private static let longMessageID = String(repeating: "5ec4e7", count: 50)
    private static let denied = "suppressed_consent"

    private static let secretive: [RuleRow] = [
        RuleRow("sound", .fcm(.opened), denied),
        RuleRow(
            "flag off", .apns(.opened) { $0.push.apns.acsDeliveryTracking = "off" }, denied),
        RuleRow(
            "unsafe id", .fcm(.opened) { $0.push.fcm.data.deliveryID = "5ec4e7 and more" }, denied),
        RuleRow("no id", .action(.click) { $0.trackAction.broadlogID = "" }, denied),
        RuleRow("in-app", .inApp(), denied),
        RuleRow("no kind", .fcm(.unspecified), "rejected: push.kind required"),
        RuleRow(
            "long subject", .fcm(.opened) { $0.subjectID = longSubject },
            "rejected: subject_id too_large"),
        RuleRow(
            "wrong platform", .apns(.opened) { $0.platform = .android },
            "rejected: platform conflict"),
        RuleRow(
            "wrong action", .action(.UNRECOGNIZED(6)), "rejected: track_action.action range"),
        RuleRow(
            "long message id", .inApp { $0.inApp.messageID = longMessageID },
            "rejected: in_app.message_id too_large"),
    ]

    @Test(
        "D23: a person who said no leaves no subject and no id, rejected for the form or not",
        arguments: secretive,
        [.optedOut, .unknown, .UNRECOGNIZED(7)] as [Sightline_V1_Consent])
    func leavesNothing(row: RuleRow, consent: Sightline_V1_Consent) throws {
        var event = row.event
        event.consent = consent
        if event.subjectID == "subject-1" { event.subjectID = "secret-subject" }
        event.traceContext.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let admitted = try AdmittedRequest.of([event])
        #expect(admitted.entries == [] && admitted.acceptedEvents.isEmpty && admitted.trace == nil)
        let refusal = try #require(admitted.refusals.first)
        #expect(refusal.judgement.line == row.outcome)
        let told = "\(refusal)"
        for secret in ["secret-subject", "5ec4e7", "56c4", "h138a", "message-1"] {
            #expect(!told.contains(secret))
        }
    }

    @Test("D23: beside others in a request, only those who agreed are kept")
    func leavesOthers() throws {
        let admitted = try AdmittedRequest.of([
            .fcm(.opened) { $0.subjectID = "first" },
            .fcm(.opened) {
                $0.subjectID = "second"
                $0.consent = .optedOut
            },
            .fcm(.opened) { $0.subjectID = "third" },
        ])
        let kept = String(decoding: admitted.entries, as: UTF8.self)
        #expect(kept.contains("first") && kept.contains("third") && !kept.contains("second"))
        #expect(admitted.acceptedEvents.map(\.index) == [0, 2])
        #expect(admitted.refusals.map(\.index) == [1])
    }
}
