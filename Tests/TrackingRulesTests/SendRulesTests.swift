// What a sender reports of a push: the hits, and what is refused.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules
internal import WireFormat

struct SendRulesTests {
    private static let outcomeRows: [RuleRow] = [
        RuleRow("sent", .send(.sent), "accepted: sent"),
        RuleRow("failed", .send(.failed, .unregistered), "accepted: send_failed"),
        RuleRow("skipped", .send(.skipped, .noConsent), "accepted: send_skipped"),
        RuleRow(
            "of Classic", .send(.sent) { $0.pushSend.product = .classic }, "accepted: sent"),
        RuleRow(
            "without a platform", .send(.sent) { $0.platform = .unspecified }, "accepted: sent"),
        RuleRow(
            "without a subject", .send(.sent) { $0.subjectID = "" }, "accepted: sent"),
        RuleRow(
            "without consent", .send(.sent) { $0.consent = .optedOut }, "suppressed_consent"),
    ]

    @Test(
        "D59: a send gives the hit of its outcome, if its recipient consents",
        arguments: outcomeRows)
    func outcomes(row: RuleRow) throws {
        try row.check()
    }

    @Test("D60: a send's hits are those of the plain notification, by kind")
    func identity() throws {
        func key(_ event: Sightline_V1_TrackingEvent) throws -> HitKey {
            let bytes: [UInt8] = try event.serializedBytes()
            return try bytes.withUnsafeBytes {
                try EventView($0).keys(tenant: .none).fact
            }
        }
        let opened = try key(TestEvent.fcm(.opened))
        #expect(try key(TestEvent.send(.sent)) == opened)
        #expect(try key(TestEvent.send(.failed, .network) { $0.pushSend.attempt = 2 }) == opened)
    }

    private static let reasonRows: [RuleRow] = [
        RuleRow(
            "none with failed", .send(.failed), "rejected: push_send.reason required"),
        RuleRow(
            "none with skipped", .send(.skipped), "rejected: push_send.reason required"),
        RuleRow(
            "one with sent", .send(.sent, .network), "rejected: push_send.reason conflict"),
        RuleRow(
            "unknown", .send(.failed, .UNRECOGNIZED(12)), "rejected: push_send.reason range"),
        RuleRow("the last", .send(.failed, .other), "accepted: send_failed"),
    ]

    @Test("D61: what was not sent has a reason, and what was sent has none", arguments: reasonRows)
    func reasons(row: RuleRow) throws {
        try row.check()
    }

    private static let hex = String(repeating: "0af9", count: 16)
    private static let fcm = "dQw4w9WgXcQ:APA91b" + String(repeating: "xY-_", count: 35)

    private static let tokenRows: [RuleRow] = [
        RuleRow(
            "APNs's as a code", .send(.failed, .other) { $0.pushSend.providerCode = hex },
            "rejected: push_send.provider_code format"),
        RuleRow(
            "a digit less as a code",
            .send(.failed, .other) { $0.pushSend.providerCode = String(hex.dropLast()) },
            "accepted: send_failed"),
        RuleRow(
            "APNs's as a message's id", .send(.sent) { $0.pushSend.providerMessageID = hex + hex },
            "rejected: push_send.provider_message_id format"),
        RuleRow(
            "FCM's as a message's id", .send(.sent) { $0.pushSend.providerMessageID = fcm },
            "rejected: push_send.provider_message_id format"),
        RuleRow(
            "FCM's as a subject", .send(.sent) { $0.subjectID = fcm },
            "rejected: subject_id format"),
        RuleRow(
            "FCM's as an app", .send(.sent) { $0.appID = fcm }, "rejected: app_id format"),
        RuleRow(
            "FCM's as a broadlog", .send(.sent) { $0.pushSend.broadlogID = fcm },
            "rejected: push_send.broadlog_id format"),
        RuleRow("a hash as a subject", .send(.sent) { $0.subjectID = hex }, "accepted: sent"),
        RuleRow(
            "ids of both services",
            .send(.sent) {
                $0.eventID = "projects/shop/messages/0:1500415314455276%31bd1c9631bd1c96"
                $0.pushSend.providerMessageID = "EC1BF194-B3B2-424A-89A9-5A918A6E6B5D"
            }, "accepted: sent"),
    ]

    @Test("D62: what looks like a device's token is refused, and not shown", arguments: tokenRows)
    func tokens(row: RuleRow) throws {
        try row.check()
    }

    private static let formRows: [RuleRow] = [
        RuleRow(
            "no outcome", .send(.unspecified), "rejected: push_send.outcome required"),
        RuleRow(
            "unknown outcome", .send(.UNRECOGNIZED(4)), "rejected: push_send.outcome range"),
        RuleRow(
            "unknown display",
            .send(.sent) { $0.pushSend.display = .UNRECOGNIZED(4) },
            "rejected: push_send.display range"),
        RuleRow(
            "an attempt below 0", .send(.sent) { $0.pushSend.attempt = -1 },
            "rejected: push_send.attempt range"),
        RuleRow(
            "no delivery", .send(.sent) { $0.pushSend.deliveryID = "" },
            "rejected: push_send.delivery_id required"),
        RuleRow(
            "a code at its limit",
            .send(.failed, .other) {
                $0.pushSend.providerCode = String(repeating: "x", count: 64)
            }, "accepted: send_failed"),
        RuleRow(
            "a code beyond its limit",
            .send(.failed, .other) {
                $0.pushSend.providerCode = String(repeating: "x", count: 65)
            }, "rejected: push_send.provider_code too_large"),
    ]

    @Test("D39, D42: the form of a send", arguments: formRows)
    func forms(row: RuleRow) throws {
        try row.check()
    }
}
