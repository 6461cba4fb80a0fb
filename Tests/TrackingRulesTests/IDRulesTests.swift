// The two ids of a push: needed, and safe in a URL.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules

struct IDRulesTests {
    /// An id, and the expected result: nothing, warnings, or a violation's code.
    struct IDRow: CustomTestStringConvertible, Sendable {
        let id: String
        let outcome: String

        init(_ id: String, _ outcome: String) {
            self.id = id
            self.outcome = outcome
        }

        var testDescription: String { "\(self.id.debugDescription): \(self.outcome)" }

        func expect(_ event: TestEvent, at field: String, hits: String) throws {
            let accepted = "accepted: \(hits)"
            let expected =
                switch self.outcome {
                case "": accepted
                case let warnings where warnings.hasPrefix("+"): accepted + " " + warnings
                default: "rejected: \(field) \(self.outcome)"
                }
            #expect(try event.judged().line == expected)
        }
    }

    private static let unsafe: [IDRow] = [
        IDRow("", "required"), IDRow("56 c4", "format"), IDRow("56c4/", "format"),
        IDRow("56c4?", "format"), IDRow("56c4&", "format"), IDRow("56c4=", "format"),
        IDRow("56c4#", "format"), IDRow("56c4%", "format"), IDRow("56c4+", "format"),
        IDRow("56c4,7", "format"), IDRow("{56c4}", "format"), IDRow("56c4~", "format"),
        IDRow("h138ä", "format"), IDRow("56c4\n", "format"), IDRow("\0", "format"),
        IDRow("56c4:", "format"), IDRow("@56c4", "format"), IDRow("[56c4", "format"),
        IDRow("`56c4", "format"), IDRow(String(repeating: "a", count: 65), "too_large"),
    ]

    private static let deliveryIDs: [IDRow] =
        unsafe + [
            IDRow("56c4", ""), IDRow("d57fd6", ""), IDRow("D57FD6", ""),
            IDRow("0", "+id_placeholder"), IDRow("null", "+id_not_hex +id_placeholder"),
            IDRow(String(repeating: "a", count: 64), ""), IDRow("h56c4", "+id_not_hex"),
            IDRow("56g4", "+id_not_hex"), IDRow("delivery.1_2-3", "+id_not_hex"),
            IDRow("-", "+id_not_hex"), IDRow(".", "+id_not_hex"), IDRow("Z", "+id_not_hex"),
            IDRow("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "+id_not_hex"),
        ]

    private static let broadlogIDs: [IDRow] =
        unsafe + [
            IDRow("h138a", ""), IDRow("h1685A5", ""), IDRow("hABC", ""),
            IDRow("h" + String(repeating: "1", count: 63), ""), IDRow("h", "+id_not_hex"),
            IDRow("H138a", "+id_not_hex"), IDRow("138a", "+id_not_hex"),
            IDRow("hh138a", "+id_not_hex"), IDRow("h13.8a", "+id_not_hex"),
        ]

    @Test("D10, D11, D48, D49: the delivery id's shape", arguments: deliveryIDs)
    func deliveryID(row: IDRow) throws {
        try row.expect(
            .apns(.opened) { $0.push.apns.deliveryID = row.id }, at: "push.apns.delivery_id",
            hits: "click, open")
        try row.expect(
            .fcm(.opened) { $0.push.fcm.data.deliveryID = row.id },
            at: "push.fcm.data.delivery_id", hits: "click, open")
        try row.expect(
            .action(.click) { $0.trackAction.deliveryID = row.id }, at: "track_action.delivery_id",
            hits: "click")
    }

    @Test("D8, D10, D11, D48, D49: the broadlog id's shape", arguments: broadlogIDs)
    func broadlogID(row: IDRow) throws {
        try row.expect(
            .apns(.opened) { $0.push.apns.messageID = row.id }, at: "push.apns.message_id",
            hits: "click, open")
        try row.expect(
            .fcm(.opened) { $0.push.fcm.data.messageID = row.id }, at: "push.fcm.data.message_id",
            hits: "click, open")
        try row.expect(
            .action(.click) { $0.trackAction.broadlogID = row.id }, at: "track_action.broadlog_id",
            hits: "click")
    }

    private static let both: [RuleRow] = [
        RuleRow(
            "none", .fcm(.opened) { $0.push.fcm.data = .init() },
            "rejected: push.fcm.data.delivery_id required, push.fcm.data.message_id required"),
        RuleRow(
            "both wrong",
            .action(.open) {
                $0.trackAction.deliveryID = "a b"
                $0.trackAction.broadlogID = String(repeating: "h", count: 65)
            },
            "rejected: track_action.delivery_id format, track_action.broadlog_id too_large"),
        RuleRow(
            "Classic needs them too",
            .fcm(.opened) {
                $0.push.product = .classic
                $0.push.fcm.data.messageID = ""
            }, "rejected: push.fcm.data.message_id required"),
    ]

    @Test("D11: without both ids nothing is tracked, and each is named", arguments: both)
    func bothIDs(row: RuleRow) throws {
        try row.check()
    }

    @Test(
        "D12, D49: Classic's ids are decimal or UUIDs, and give no warning",
        arguments: ["1234567", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "x_y.z"])
    func classicIDs(id: String) throws {
        let event = TestEvent.fcm(.opened) {
            $0.push.product = .classic
            $0.push.fcm.data.deliveryID = id
            $0.push.fcm.data.messageID = id
        }
        #expect(try event.judged().line == "accepted: click")
    }

    private static let placeholders = [
        "null", "NULL", "undefined", "Undefined", "nil", "None", "NaN", "0", "000",
        "00000000-0000-0000-0000-000000000000",
    ]

    @Test(
        "D57: a placeholder as an id is accepted with a warning of its own, for each product",
        arguments: placeholders,
        [Sightline_V1_CampaignProduct.unspecified, .standard, .classic])
    func warned(id: String, product: Sightline_V1_CampaignProduct) throws {
        let flag = #""_acsDeliveryTracking":"on""#
        let events: [TestEvent] = [
            .apns(.opened) { $0.push.apns.deliveryID = id },
            .apns(.opened) { $0.push.apns.messageID = id },
            .fcm(.opened) { $0.push.fcm.data.deliveryID = id },
            .fcm(.opened) { $0.push.fcm.data.messageID = id },
            .raw(#"{"_dId":"56c4","_mId":"\#(id)",\#(flag)}"#, .ios),
            .raw(#"{"data":{"_dId":"\#(id)","_mId":"h138a",\#(flag)}}"#, .android),
        ]
        for var event in events {
            event.push.product = product
            let line = try event.judged().line
            #expect(line.hasPrefix("accepted: click"), "\(line)")
            #expect(line.hasSuffix(" +id_placeholder"), "\(line)")
        }
        let action = TestEvent.action(.click, product) { $0.trackAction.broadlogID = id }
        #expect(try action.judged().line.hasSuffix(" +id_placeholder"))
        let message = TestEvent.inApp { $0.inApp.messageID = id }
        #expect(try message.judged().line == "accepted: in_app_impression +id_placeholder")
    }

    @Test(
        "D57: a placeholder that no URL may have is refused by its name; in-app it is warned of",
        arguments: ["[object Object]", "(null)", "<null>", "<nil>"])
    func unsafePlaceholders(id: String) throws {
        let event = TestEvent.fcm(.opened) { $0.push.fcm.data.messageID = id }
        let judgement = try event.judged()
        #expect(judgement.line == "rejected: push.fcm.data.message_id format")
        let description = try #require(judgement.violations.first).description
        #expect(description.contains(id) && description.contains("has no id"))
        let message = TestEvent.inApp { $0.inApp.messageID = id }
        #expect(try message.judged().line == "accepted: in_app_impression +id_placeholder")
    }

    @Test(
        "D57: what only looks like a placeholder is an id",
        arguments: [
            "nul", "nulls", "null0", "h0", "00a", "-0", "a0", "10", "nilnil", "un", "none.",
            "00000000-0000-0000-0000-000000000001",
        ])
    func otherIDs(id: String) throws {
        let event = TestEvent.fcm(.opened) {
            $0.push.product = .classic
            ($0.push.fcm.data.deliveryID, $0.push.fcm.data.messageID) = (id, id)
        }
        #expect(try event.judged().line == "accepted: click")
    }

    @Test("D10: a refused id is shown, cut to a bounded length and without control letters")
    func shownIDs() throws {
        let event = TestEvent.fcm(.opened) { $0.push.fcm.data.deliveryID = "a\u{1b}[31m b" }
        let violation = try #require(try event.judged().violations.first)
        #expect(violation.description.contains("[31m b"))
        #expect(!violation.description.unicodeScalars.contains { $0.value < 0x20 })
    }
}
