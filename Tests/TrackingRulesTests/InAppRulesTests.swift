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

    private static let triggerRows: [RuleRow] = [
        RuleRow(
            "triggered", .inApp { $0.inApp.triggered = .init() }, "accepted: in_app_triggered"),
        RuleRow(
            "suppressed", .inApp { $0.inApp.suppressed = .init() },
            "accepted: in_app_suppressed"),
        RuleRow(
            "suppressed, and said so twice",
            .inApp {
                $0.inApp.suppressed = .init()
                $0.inApp.displaySuppressed = true
            }, "accepted: in_app_suppressed"),
        RuleRow(
            "triggered while display was suppressed",
            .inApp {
                $0.inApp.triggered = .init()
                $0.inApp.displaySuppressed = true
            }, "suppressed_display"),
        RuleRow(
            "suppressed, of a test message",
            .inApp {
                $0.inApp.suppressed = .init()
                $0.inApp.testMessage = true
            }, "suppressed_test_message"),
        RuleRow(
            "suppressed, without consent",
            .inApp {
                $0.inApp.suppressed = .init()
                $0.consent = .optedOut
            }, "suppressed_consent"),
    ]

    @Test("D64: a trigger and a suppressed one are facts of their own", arguments: triggerRows)
    func triggers(row: RuleRow) throws {
        try row.check()
    }

    private static let formRows: [RuleRow] = [
        RuleRow(
            "the last trigger and layout",
            .inApp {
                $0.inApp.triggerKind = .app
                $0.inApp.layout = .image
            }, "accepted: in_app_impression"),
        RuleRow(
            "unknown ones",
            .inApp {
                $0.inApp.triggerKind = .UNRECOGNIZED(4)
                $0.inApp.layout = .UNRECOGNIZED(5)
            }, "rejected: in_app.trigger_kind range, in_app.layout range"),
        RuleRow(
            "not fetched",
            .inApp {
                $0.inApp.displayError.fetchReason = .network
                $0.inApp.displayError.detail = String(repeating: "x", count: 256)
            }, "accepted: in_app_display_error"),
        RuleRow(
            "a text of 257 bytes",
            .inApp { $0.inApp.displayError.detail = String(repeating: "x", count: 257) },
            "rejected: in_app.display_error.detail too_large"),
        RuleRow(
            "an unknown reason",
            .inApp { $0.inApp.displayError.fetchReason = .UNRECOGNIZED(4) },
            "rejected: in_app.display_error.fetch_reason range"),
        RuleRow(
            "neither fetched nor rendered",
            .inApp {
                $0.inApp.displayError.fetchReason = .server
                $0.inApp.displayError.reason = .imageFetch
            }, "rejected: in_app.display_error.fetch_reason conflict"),
    ]

    @Test("D39, D42: the form of triggers, layouts and display errors", arguments: formRows)
    func form(row: RuleRow) throws {
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
        let fetchReasons: [Sightline_V1_InAppFetchErrorReason] = [
            .unspecified, .server, .client, .network,
        ]
        #expect(fetchReasons.map(\.rawValue) == [0, 1, 2, 3])
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
