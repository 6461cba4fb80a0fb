// The limits on an event's fields, each at the limit and one beyond.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct LimitRulesTests {
    /// A field that is limited, and how to fill it.
    struct LimitRow: CustomTestStringConvertible, Sendable {
        let field: String
        let limit: Int
        let event: @Sendable (String) -> TestEvent
        var testDescription: String { "\(self.field): \(self.limit)" }

        init(
            _ field: String, _ limit: Int, _ event: @escaping @Sendable (String) -> TestEvent
        ) {
            self.field = field
            self.limit = limit
            self.event = event
        }
    }

    private static let stringRows: [LimitRow] = [
        LimitRow("event_id", 64) { text in .fcm(.opened) { $0.eventID = text } },
        LimitRow("app_id", 256) { text in .fcm(.opened) { $0.appID = text } },
        LimitRow("subject_id", 256) { text in .action(.click) { $0.subjectID = text } },
        LimitRow("push.action_identifier", 256) { text in
            .apns(.opened) { $0.push.actionIdentifier = text }
        },
        LimitRow("in_app.message_id", 256) { text in .inApp { $0.inApp.messageID = text } },
        LimitRow("in_app.campaign_name", 256) { text in .inApp { $0.inApp.campaignName = text } },
        LimitRow("in_app.trigger_event", 256) { text in .inApp { $0.inApp.triggerEvent = text } },
    ]

    @Test(
        "D42: strings are limited in bytes: at the limit, and one beyond", arguments: stringRows)
    func strings(row: LimitRow) throws {
        let text = String(repeating: "ü", count: row.limit / 2)
        #expect(try row.event(text).judged().verdict == .accepted)
        #expect(try row.event(text + "x").judged().line == "rejected: \(row.field) too_large")
    }

    private static let versionRows: [LimitRow] = [
        LimitRow("app_version", 32) { text in .fcm(.opened) { $0.appVersion = text } },
        LimitRow("os_version", 32) { text in .inApp { $0.osVersion = text } },
        LimitRow("sdk_version", 32) { text in .send(.sent) { $0.sdkVersion = text } },
    ]

    @Test("D65: versions have 32 bytes, and not one more", arguments: versionRows)
    func versions(row: LimitRow) throws { try self.strings(row: row) }

    /// The maps, filled.
    private static let mapFields: [(String, @Sendable ([String: String]) -> TestEvent)] = [
        (
            "push.apns.custom_fields",
            { map in .apns(.opened) { $0.push.apns.customFields = map } }
        ),
        (
            "push.fcm.data.custom_fields",
            { map in .fcm(.opened) { $0.push.fcm.data.customFields = map } }
        ),
        (
            "push.apns.aps.other_fields",
            { map in .apns(.opened) { $0.push.apns.aps.otherFields = map } }
        ),
        ("in_app.app_data", { map in .inApp { $0.inApp.appData = map } }),
    ]

    @Test("D42: maps are limited in entries, keys and values", arguments: 0..<4)
    func maps(index: Int) throws {
        let (field, event) = Self.mapFields[index]
        let entries = { (count: Int) in
            Dictionary(uniqueKeysWithValues: (0..<count).map { ("key \($0)", "value") })
        }
        #expect(try event(entries(64)).judged().verdict == .accepted)
        #expect(try event(entries(65)).judged().line == "rejected: \(field) too_large")

        let key = String(repeating: "ü", count: 32)
        #expect(try event([key: ""]).judged().verdict == .accepted)
        #expect(try event([key + "x": ""]).judged().line == "rejected: \(field).key too_large")
        #expect(try event(["": "an empty key is legal"]).judged().verdict == .accepted)

        let value = String(repeating: "v", count: 1024)
        #expect(try event(["key": value]).judged().verdict == .accepted)
        #expect(
            try event(["key": value + "v"]).judged().line == "rejected: \(field).value too_large")
    }

    @Test("D42: of entries with one key the last alone counts, as for a decoder")
    func repeatedKeys() throws {
        let entry = { (key: String, bytes: Int) in
            WireWriter.message {
                $0.field(1, key)
                $0.field(2, [UInt8](repeating: 0x76, count: bytes))
            }
        }
        let base = try TestEvent.inApp().bytes()
        let judged = { (entries: [[UInt8]]) in
            let inApp = WireWriter.message { for entry in entries { $0.field(4, entry) } }
            let bytes = base + WireWriter.message { $0.field(12, inApp) }
            return try bytes.withUnsafeBytes { bytes in
                var steps = NoSteps()
                return RuleSet().judge(
                    try EventView(bytes), receiveTime: TestEvent.now, steps: &steps
                ).line
            }
        }
        let twice = (0..<100).map { entry("key \($0 % 50)", 1) }
        #expect(try judged(twice) == "accepted: in_app_impression")
        #expect(
            try judged([entry("key", 1025), entry("key", 1)]) == "accepted: in_app_impression")
        #expect(
            try judged([entry("key", 1), entry("key", 1025)])
                == "rejected: in_app.app_data.value too_large")
    }

    @Test("D42: an event has 16 KiB at most, its unknown fields among them")
    func eventSize() throws {
        let base = try TestEvent.fcm(.opened).bytes()
        for (size, line) in [
            (16 * 1024, "accepted: click, open"), (16 * 1024 + 1, "rejected: event too_large"),
        ] {
            // An unknown field fills the rest: 2 bytes of tag, 2 of length, and zeros.
            let filler = [UInt8](repeating: 0, count: size - base.count - 4)
            let bytes = base + WireWriter.message { $0.field(100, filler) }
            try #require(bytes.count == size)
            try bytes.withUnsafeBytes { bytes in
                var steps = NoSteps()
                let judgement = RuleSet().judge(
                    try EventView(bytes), receiveTime: TestEvent.now, steps: &steps)
                #expect(judgement.line == line)
            }
        }
    }

    @Test("D42, D48: an id of 64 bytes is taken, one of 65 is refused only in the id stage")
    func idLengths() throws {
        let long = String(repeating: "a", count: 65)
        let event = TestEvent.apns(.opened) { $0.push.apns.deliveryID = long }
        #expect(try event.judged().line == "rejected: push.apns.delivery_id too_large")
        let off = TestEvent.apns(.opened) {
            $0.push.apns.deliveryID = long
            $0.push.apns.acsDeliveryTracking = "off"
        }
        #expect(try off.judged().line == "suppressed_flag_off")
    }

    @Test("Limits are the operator's where they are not fixed")
    func configuredLimits() throws {
        var limits = Limits()
        limits.eventBytes = 10
        let rules = RuleSet(limits: limits)
        #expect(try TestEvent.fcm(.opened).judged(by: rules).line == "rejected: event too_large")
    }
}
