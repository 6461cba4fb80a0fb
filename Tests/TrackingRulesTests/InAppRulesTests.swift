// Firebase in-app messages: their facts, and what keeps one from being counted.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct InAppRulesTests {
    private static let factRows: [RuleRow] = [
        RuleRow("impression", .inApp(), "accepted: in_app_impression"),
        RuleRow(
            "click", .inApp { $0.inApp.click.actionURL = "https://example.com" },
            "accepted: in_app_click"),
        RuleRow(
            "click with a text alone", .inApp { $0.inApp.click.actionText = "OK" },
            "accepted: in_app_dismissal"),
        RuleRow(
            "click with nothing", .inApp { $0.inApp.click = .init() },
            "accepted: in_app_dismissal"),
        RuleRow(
            "dismissal by a swipe", .inApp { $0.inApp.dismissal.type = .swipe },
            "accepted: in_app_dismissal"),
        RuleRow(
            "dismissal of a type to come",
            .inApp { $0.inApp.dismissal.type = .UNRECOGNIZED(9) }, "accepted: in_app_dismissal"),
        RuleRow(
            "display error", .inApp { $0.inApp.displayError.reason = .imageFetch },
            "accepted: in_app_display_error"),
    ]

    @Test("D24, D25: four facts; a click that leads nowhere is a dismissal", arguments: factRows)
    func facts(row: RuleRow) throws {
        try row.check()
    }

    @Test("D24: the enums have the numbers of Firebase's wire")
    func firebaseNumbers() {
        typealias DismissType = Sightline_V1_InAppDismissType
        typealias Reason = Sightline_V1_InAppRenderErrorReason
        let types: [DismissType] = [.unspecified, .auto, .click, .swipe]
        #expect(types.map(\.rawValue) == [0, 1, 2, 3])
        let reasons: [Reason] = [
            .unspecified, .imageFetch, .imageDisplay, .imageUnsupportedFormat,
        ]
        #expect(reasons.map(\.rawValue) == [0, 1, 2, 3])
    }

    private static let recordTests = Policy.with { $0.recordTestMessages = true }

    private static let suppressed: [RuleRow] = [
        RuleRow(
            "test message", .inApp { $0.inApp.testMessage = true }, "suppressed_test_message"),
        RuleRow(
            "test message, recorded", .inApp { $0.inApp.testMessage = true },
            "accepted: in_app_impression", policy: recordTests),
        RuleRow(
            "display suppressed", .inApp { $0.inApp.displaySuppressed = true },
            "suppressed_display"),
        RuleRow("both", .inApp(both), "suppressed_test_message"),
        RuleRow(
            "both, tests recorded", .inApp(both), "suppressed_display", policy: recordTests),
        RuleRow(
            "both, opted out",
            .inApp {
                both(&$0)
                $0.consent = .optedOut
            }, "suppressed_consent"),
        RuleRow(
            "both, with a wrong form",
            .inApp {
                both(&$0)
                $0.inApp.messageID = ""
            }, "rejected: in_app.message_id required"),
    ]

    private static func both(_ event: inout TestEvent) {
        event.inApp.testMessage = true
        event.inApp.displaySuppressed = true
    }

    @Test(
        "D26, D28, D44: a test message is kept apart, and a suppressed display counts nothing",
        arguments: suppressed)
    func suppression(row: RuleRow) throws {
        try row.check()
    }

    private static let identityRows: [RuleRow] = [
        RuleRow(
            "no message id", .inApp { $0.inApp.messageID = "" },
            "rejected: in_app.message_id required"),
        RuleRow(
            "no event id, no time", .inApp { $0.eventID = "" }, "rejected: occur_time required"),
        RuleRow(
            "no event id, time zero",
            .inApp {
                $0.eventID = ""
                $0.occurTime = .init()
            }, "rejected: occur_time required"),
        RuleRow(
            "no event id, a time of one nanosecond",
            .inApp {
                $0.eventID = ""
                $0.occurTime.nanos = 1
            }, "accepted: in_app_impression +clock_skew"),
        RuleRow(
            "no event id, a time",
            .inApp {
                $0.eventID = ""
                $0.occurTime.seconds = TestEvent.now / 1_000_000
            }, "accepted: in_app_impression"),
        RuleRow("an event id, no time", .inApp(), "accepted: in_app_impression"),
        RuleRow("no app id", .inApp { $0.appID = "" }, "accepted: in_app_impression"),
        RuleRow("no subject", .inApp { $0.subjectID = "" }, "accepted: in_app_impression"),
        RuleRow(
            "neither message id nor time",
            .inApp {
                $0.eventID = ""
                $0.inApp.messageID = ""
            }, "rejected: in_app.message_id required, occur_time required"),
    ]

    @Test(
        "D43, D50: a message needs its id, and an event id or a time other than zero",
        arguments: identityRows)
    func identity(row: RuleRow) throws {
        try row.check()
    }

    @Test("D43, D51: a push needs neither app id nor event id nor time")
    func pushNeedsNone() throws {
        let event = TestEvent.fcm(.opened) {
            $0.appID = ""
            $0.eventID = ""
            $0.subjectID = ""
        }
        #expect(try event.judged().line == "accepted: click, open")
    }

    @Test("D29: app_data travels with the event, byte for byte")
    func appData() throws {
        let event = TestEvent.inApp { $0.inApp.appData = ["a key": "välue", "": ""] }
        let bytes = try event.bytes()
        let request = WireWriter.message { $0.field(2, bytes) }
        let admitted = AdmittedRequest.of(bytes: request)
        #expect(Array(admitted.entries.dropFirst(HitEncoding.entryBytes)) == bytes)
    }
}
