// Raw payloads: where their keys are found, what is refused, and what the journal keeps of them.

internal import Foundation
@testable internal import JSON
internal import PayloadInspector
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules
@testable internal import WireFormat

struct RawPayloadTests {
    private static let ids = #""_dId":"56c4","_mId":"h138a","_acsDeliveryTracking":"on""#
    private static let opened = "accepted: click, open"

    private static let forms: [(Sightline_V1_Platform, String, String)] = [
        (.ios, "{\(ids)}", opened), (.ios, #"{"aps":{"alert":"a"},\#(ids)}"#, opened),
        (.ios, #"{"message":{"apns":{"payload":{"aps":{},\#(ids)}}}}"#, opened),
        (.ios, #"{"message":"hello",\#(ids)}"#, opened),
        (.ios, #"{"data":{"a":"b"},\#(ids)}"#, opened),
        (.android, #"{"data":{\#(ids)}}"#, opened), (.android, "{\(ids)}", opened),
        (.android, #"{"data":"text","priority":"mine","to":"me",\#(ids)}"#, opened),
        (.android, #"{"message":{"data":{\#(ids)},"token":"t"}}"#, opened),
        (.android, #"{"message":{"android":{"data":{\#(ids)}},"data":{"a":"b"}}}"#, opened),
        (.android, #"{"notification":{"title":"t"},"data":{\#(ids)}}"#, opened),
        (.android, #"{"message":"hello",\#(ids)}"#, opened),
        // The data for all platforms of an FCM v1 message, wrapped or as firebase-admin takes it.
        (.ios, #"{"message":{"data":{\#(ids)}}}"#, opened),
        (.ios, #"{"message":{"data":{\#(ids)},"apns":{"payload":{"aps":{}}}}}"#, opened),
        (.ios, #"{"message":{"data":{\#(ids)},"android":{"data":{"a":"b"}}}}"#, opened),
        (.ios, #"{"token":"t","data":{\#(ids)}}"#, opened),
        (.ios, #"{"topic":"t","data":{\#(ids)},"apns":{"payload":{"aps":{}}}}"#, opened),
        (.ios, #"{"apns":{"payload":{"aps":{},\#(ids)}}}"#, opened),
        (.android, #"{"token":"t","data":{\#(ids)},"apns":{"payload":{"aps":{}}}}"#, opened),
        (.android, #"{"android":{"data":{\#(ids)}},"data":{"a":"b"}}"#, opened),
        (
            .ios,
            #"{"message":{"data":{"_mId":"h138a"},"apns":{"payload":{"_dId":"56c4"}}}}"#,
            opened + " +flag_assumed_on"
        ),
        // Ids at the top level count, whatever other keys are called.
        (.android, #"{"data":{"a":3},\#(ids)}"#, opened),
        (.android, #"{"message":{"a":3},\#(ids)}"#, opened),
        (.android, #"{"notification":{"a":3},\#(ids)}"#, opened),
        (.android, #"{"android":{"data":{"a":3}},\#(ids)}"#, opened),
        (.ios, #"{"message":{"apns":{"payload":{"a":3}}},\#(ids)}"#, opened),
        (.ios, #"{"topic":"t","data":{"a":3},"apns":{"payload":{}},\#(ids)}"#, opened),
        (.android, "\u{FEFF}{\(ids)}", opened),
        (
            .ios, #"{"aps":{},"media-attachment-url":"u",\#(ids)}"#,
            opened + " +media_without_mutable_content"
        ),
        (.ios, #"{"aps":{"mutable-content":1},"media-attachment-url":"u",\#(ids)}"#, opened),
        (.ios, #"{"aps":{"mutable-content":1.0},"media-attachment-url":"u",\#(ids)}"#, opened),
        (.ios, #"{"media-attachment-url":"",\#(ids)}"#, opened),
        (.android, #"{"media-attachment-url":"u",\#(ids)}"#, opened),
    ]

    @Test(
        "D1, D31, D32: ids, flag and media are read where the payload's form has them",
        arguments: forms)
    func isReadInEachForm(platform: Sightline_V1_Platform, json: String, outcome: String) throws {
        #expect(try TestEvent.raw(json, platform).judged().line == outcome)
    }

    private static let refused: [(Sightline_V1_Platform, String, String)] = [
        (.unspecified, "{\(ids)}", "platform required"),
        (.UNRECOGNIZED(7), "{\(ids)}", "platform required"),
        (.unspecified, "{", "platform required, push.raw.json malformed"),
        (.ios, "{}", "push.raw.json._dId required, push.raw.json._mId required"),
        (.ios, #"{"_dId":5,"_mId":"h1"}"#, "push.raw.json._dId required"),
        (
            .ios, #"{"_dId":null,"_mId":{"a":1}}"#,
            "push.raw.json._dId required, push.raw.json._mId required"
        ),
        (.ios, #"{"_dId":"a b","_mId":"h1"}"#, "push.raw.json._dId format"),
        (
            .ios, #"{"aps":{\#(ids)}}"#,
            "push.raw.json._dId required, push.raw.json._mId required"
        ),
        (.android, #"{"data":{"_dId":"a"}}"#, "push.raw.json.data._mId required"),
        (.android, #"{"data":{},"_mId":"h1"}"#, "push.raw.json._dId required"),
        (
            .android, #"{"aps":{},"data":{},"_mId":"h1","_dId":"a"}"#, "platform conflict"
        ),
        (.android, #"{"data":{"_dId":"a"},"_mId":"h1"}"#, "push.raw.json.data._mId required"),
        (.android, #"{"token":"t","android":{}}"#, "push.raw.json.data required"),
        (
            .android, #"{"message":{"data":{\#(ids)},"android":{"data":{"_dId":"56c4"}}}}"#,
            "push.raw.json.message.android.data._mId required"
        ),
        (
            .ios, #"{"message":{"data":{"_mId":"a b"},"apns":{"payload":{}}}}"#,
            "push.raw.json.message.apns.payload._dId required, "
                + "push.raw.json.message.data._mId format"
        ),
        (
            .android, #"{"message":{"data":{"_dId":"a"}}}"#,
            "push.raw.json.message.data._mId required"
        ),
        (.android, #"{"message":{}}"#, "push.raw.json.message.data required"),
        (.android, #"{"to":"t","collapseKey":"1"}"#, "push.raw.json.data required"),
        (.android, #"{"notification":{}}"#, "push.raw.json.data required"),
        (.android, #"{"aps":{},\#(ids)}"#, "platform conflict"),
        (.ios, #"{"data":{\#(ids)}}"#, "platform conflict"),
        (.ios, #"{"notification":{"title":"t"},"data":{\#(ids)}}"#, "platform conflict"),
        (.ios, #"{"message":{"android":{"data":{\#(ids)}}}}"#, "platform conflict"),
        (.ios, #"{"android":{"data":{\#(ids)}},"token":"t"}"#, "platform conflict"),
    ]

    @Test(
        "D11, D39: a raw payload needs its platform, its data and both ids, as strings",
        arguments: refused)
    func refusals(platform: Sightline_V1_Platform, json: String, violations: String) throws {
        let judgement = try TestEvent.raw(json, platform).judged()
        #expect(judgement.line == "rejected: " + violations)
        #expect(judgement.violations.allSatisfy { $0.description.contains(":") })
    }

    @Test(
        "D39: the fix that a conflict names is the right one for who sends the payload",
        arguments: [
            // What a library of an iOS app makes of userInfo, or a message for Android.
            (#"{"messageId":"1","notification":{},"data":{\#(ids)}}"#, "send what is in `data`"),
            (#"{"message":{"android":{"data":{\#(ids)}}}}"#, "no app on iOS gets that"),
        ])
    func conflictNamesTheFix(json: String, fix: String) throws {
        let violation = try #require(try TestEvent.raw(json, .ios).judged().violations.first)
        #expect(violation.field == "platform" && violation.description.contains(fix))
        #expect(violation.description.contains("PLATFORM_ANDROID"))
        // It is right: what is in `data`, sent as userInfo has it, counts.
        #expect(try TestEvent.raw("{\(Self.ids)}", .ios).judged().line == Self.opened)
    }

    /// The ids, and what is there of a flag.
    private static func tracked(_ flag: String?) -> String {
        let flag = flag.map { #","_acsDeliveryTracking":"\#($0)""# } ?? ""
        return #""_dId":"56c4","_mId":"h138a"\#(flag)"#
    }

    @Test(
        "D2: a flag `off` is obeyed in the data for all platforms and in that of one",
        arguments: [
            ("off", nil, "suppressed_flag_off"), ("off", "on", "suppressed_flag_off"),
            (nil, "off", "suppressed_flag_off"), ("on", "off", "suppressed_flag_off"),
            ("on", "on", opened), ("no", "on", opened), ("on", "no", "suppressed_flag_unknown"),
        ] as [(String?, String?, String)])
    func isOffInEitherPlace(general: String?, own: String?, outcome: String) throws {
        let (general, own) = ("{\(Self.tracked(general))}", "{\(Self.tracked(own))}")
        for (platform, json) in [
            (.ios, #"{"message":{"data":\#(general),"apns":{"payload":\#(own)}}}"#),
            (.ios, #"{"data":\#(general),"apns":{"payload":\#(own)}}"#),
            (.android, #"{"message":{"data":\#(general),"android":{"data":\#(own)}}}"#),
            (.android, #"{"data":\#(general),"android":{"data":\#(own)}}"#),
        ] as [(Sightline_V1_Platform, String)] {
            #expect(try TestEvent.raw(json, platform).judged().line == outcome, "\(json)")
            let document = try PayloadDocument(Array(json.utf8))
            let target: Platform = platform == .ios ? .ios : .android
            let inspection = PayloadInspector().inspect(document, platform: target)
            #expect(inspection.tracked == (outcome == Self.opened), "\(inspection.findings)")
        }
    }

    private static let malformed = [
        "", " ", "nul", "5", "\"a\"", "[]", "[{}]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
        "{a:1}", "{'a':1}", "{\"a\":01}", "{\"a\":1.}", "{\"a\":+1}", "{\"a\":NaN}",
        "{\"a\":tru}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12g4\"}", "{\"a\":\"\\ud800\\u\"}",
        "{\"a\":\"\u{1}\"}", "{\"a\":\"", "{}{}", "{},", "{}x",
        "{\"a\":[1 2]}", "{\"a\":[1,]}", "{\"a\" 1}", "// c\n{}", "\u{FEFF}\u{FEFF}{}", "\0",
    ]

    @Test(
        "D39: what is no JSON object is malformed, before consent is looked at",
        arguments: malformed)
    func isRefusedWhereMalformed(json: String) throws {
        for consent in [Sightline_V1_Consent.optedIn, .optedOut] {
            let event = TestEvent.raw(json, .ios) { $0.consent = consent }
            #expect(try event.judged().line == "rejected: push.raw.json malformed")
        }
    }

    @Test(
        "Bytes that are no UTF-8 are no JSON, wherever they stand",
        arguments: [
            [0xff], [0x22, 0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80],
        ] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) throws {
        for (head, tail) in [(#"{"a":""#, #"",\#(Self.ids)}"#), (#"{\#(Self.ids),""#, #"":1}"#)] {
            var event = TestEvent.raw("", .ios)
            event.push.raw.json = Data(head.utf8) + Data(bytes) + Data(tail.utf8)
            #expect(try event.judged().line == "rejected: push.raw.json malformed")
        }
    }

    private static let conflicts: [(Sightline_V1_Platform, String)] = [
        (.ios, #"{\#(ids),"_dId":"b"}"#), (.ios, #"{\#(ids),"_\u0064Id":"b"}"#),
        (.ios, #"{\#(ids),"_mId":5}"#), (.ios, #"{\#(ids),"_acsDeliveryTracking":"off"}"#),
        (.ios, #"{\#(ids),"data":{"_dId":"b"}}"#),
        (.ios, #"{\#(ids),"message":{"apns":{"payload":{"_mId":"h2"}}}}"#),
        (.ios, #"{"aps":{"mutable-content":1},"aps":{"mutable-content":0},\#(ids)}"#),
        (.android, #"{"data":{\#(ids)},"data":{"_dId":"b","_mId":"h1"}}"#),
        (.android, #"{"data":{\#(ids)},"_mId":"h2"}"#),
        (.android, #"{"data":{\#(ids)},"message":{"data":{"_mId":"h2"}}}"#),
        (.android, #"{"message":{"data":{\#(ids)},"android":{"data":{"_dId":"b"}}}}"#),
        (.ios, #"{"message":{"data":{\#(ids)},"apns":{"payload":{"_dId":"b"}}}}"#),
        (.ios, #"{"token":"t","data":{\#(ids)},"apns":{"payload":{"_mId":"h2"}}}"#),
    ]

    @Test(
        "Two values of one id or flag are a conflict, and no text shows them", arguments: conflicts)
    func isRefusedWhereAmbiguous(platform: Sightline_V1_Platform, json: String) throws {
        for consent in [Sightline_V1_Consent.optedIn, .optedOut] {
            let judgement = try TestEvent.raw(json, platform) { $0.consent = consent }.judged()
            #expect(judgement.verdict == .rejected)
            #expect(judgement.violations.map(\.code) == [.conflict])
            #expect(judgement.violations.map(\.field) == [RawPayload.field])
            let text = judgement.violations.map(\.description).joined()
            #expect(!text.contains("56c4") && !text.contains("h138a") && !text.contains("h2"))
        }
        // The inspector takes the same for an error (D55).
        let target: Platform = platform == .ios ? .ios : .android
        let document = try PayloadDocument(Array(json.utf8))
        #expect(!PayloadInspector().inspect(document, platform: target).tracked)
    }

    @Test(
        "The same value twice, other keys twice, and an empty id beside a sound one are no conflict",
        arguments: [
            (.ios, #"{\#(ids),\#(ids)}"#), (.ios, #"{"a":1,"a":2,"_d\u0049d":"56c4",\#(ids)}"#),
            (.ios, #"{"data":{"_dId":"56c4","_mId":""},\#(ids)}"#),
            (.android, #"{"_dId":"","data":{"x":{"_dId":"b","_dId":"c"},\#(ids)}}"#),
            (.android, #"{"to":"a","to":"b","data":{\#(ids)}}"#),
        ] as [(Sightline_V1_Platform, String)])
    func noConflicts(platform: Sightline_V1_Platform, json: String) throws {
        #expect(try TestEvent.raw(json, platform).judged().line == Self.opened)
    }

    private static let cut = " +unpaired_surrogate"

    @Test(
        "D58: half of an emoji in a text is accepted with a warning, and kept as it was sent",
        arguments: [
            (.ios, #"{"aps":{"alert":{"title":"a\ud83d"}},\#(ids)}"#, opened + cut),
            (.ios, #"{"a\ude00":[{"b":"\ud83d!"}],\#(ids)}"#, opened + cut),
            (.android, #"{"data":{"title":"\ud83d",\#(ids)}}"#, opened + cut),
            (.android, #"{"data":{"title":"\ud83d\ude00",\#(ids)}}"#, opened),
            (.ios, #"{"_dId":"a\ud83d","_mId":"h1"}"#, "rejected: push.raw.json._dId format"),
            (
                .ios, #"{"_dId":"a","_mId":"h1","_acsDeliveryTracking":"on\ud83d"}"#,
                "suppressed_flag_unknown"
            ),
        ] as [(Sightline_V1_Platform, String, String)])
    func halfCharacters(platform: Sightline_V1_Platform, json: String, outcome: String) throws {
        let event = TestEvent.raw(json, platform)
        #expect(try event.judged().line == outcome)
        let classic = TestEvent.raw(json, platform) { $0.push.product = .classic }
        #expect(try classic.judged().line.hasSuffix(Self.cut) == outcome.hasSuffix(Self.cut))
        if outcome.hasPrefix(Self.opened) {
            let sent = try event.bytes()
            #expect(try AdmittedRequest.of([event]).entries.firstRange(of: sent) != nil)
        }
        let target: Platform = platform == .ios ? .ios : .android
        let document = try PayloadDocument(Array(json.utf8))
        let inspection = PayloadInspector().inspect(document, platform: target)
        #expect(inspection.tracked == outcome.hasPrefix("accepted"))
        let isTold = inspection.findings.contains { $0.description.contains("half of a character") }
        #expect(isTold == (document.unpairedSurrogate != nil))
    }

    @Test("a raw payload is taken at its limits, and is too large one beyond")
    func limits() throws {
        let nested = { (levels: Int) in
            #"{"a":"# + String(repeating: "[", count: levels - 1)
                + String(repeating: "]", count: levels - 1) + ",\(Self.ids)}"
        }
        let filled = { (bytes: Int) in
            let empty = #"{"a":"",\#(Self.ids)}"#
            let text = String(repeating: "x", count: bytes - empty.utf8.count)
            return #"{"a":"\#(text)",\#(Self.ids)}"#
        }
        var small = Limits()
        (small.rawPayloadBytes, small.rawPayloadLevels) = (300, 4)
        for (limits, bytes, levels) in [(Limits(), 8192, 32), (small, 300, 4)] {
            let rules = RuleSet(limits: limits)
            let line = { (json: String) in
                try TestEvent.raw(json, .ios).judged(by: rules).line
            }
            #expect(try line(filled(bytes)) == Self.opened)
            #expect(try line(filled(bytes + 1)) == "rejected: push.raw.json too_large")
            #expect(try line(nested(levels)) == Self.opened)
            #expect(try line(nested(levels + 1)) == "rejected: push.raw.json too_large")
        }
        // The default is the inspector's, so that both say the same (D55).
        #expect(Limits().rawPayloadLevels == JSONValue.maximumDepth)
    }

    @Test("D2, D4, D5: every row of the flag's truth table holds for raw payloads")
    func truthTable() throws {
        for row in try Fixtures.lines("flag-truth-table.csv").dropFirst() {
            let cells = row.split(separator: ",").map(String.init)
            let raw = cells[0].hasPrefix("\"") ? String(cells[0].dropFirst().dropLast()) : cells[0]
            let flag = raw == "<absent>" ? nil : raw == "<empty>" ? "" : raw
            let text = flag.map { #","_acsDeliveryTracking":\#(JSONValue.string($0).text)"# } ?? ""
            let json = #"{"_dId":"56c4","_mId":"h138a"\#(text)}"#
            let platform: Sightline_V1_Platform = cells[1] == "ios" ? .ios : .android
            let verdict = try TestEvent.raw(json, platform).judged().line
            #expect(verdict.hasPrefix(cells[2].prefix(8)), "\(row): \(verdict)")
        }
        for (value, platform, line) in [
            ("true", .android, "suppressed_flag_unknown"),
            ("null", .android, "suppressed_flag_unknown"),
            ("1", .ios, Self.opened + " +flag_assumed_on"),
            ("null", .ios, Self.opened + " +flag_assumed_on"),
        ] as [(String, Sightline_V1_Platform, String)] {
            let json = #"{"_dId":"56c4","_mId":"h138a","_acsDeliveryTracking":\#(value)}"#
            #expect(try TestEvent.raw(json, platform).judged().line == line)
        }
    }

    @Test(
        "The journal keeps the event as it was sent, with the ids behind it, and a client's own count for nothing"
    )
    func journal() throws {
        let long = String(repeating: "a", count: 64)
        for (delivery, message) in [("56c4", "h138a"), (long, long)] {
            let json = #"{"_dId":"\#(delivery)","_mId":"\#(message)","\u00e9":[1.50]}"#
            let event = TestEvent.raw(json, .android) {
                $0.rawIds.deliveryID = "other"
                $0.rawIds.messageID = "h2"
            }
            let admitted = try AdmittedRequest.of([event])
            let accepted = try #require(admitted.acceptedEvents.first)
            let sent = try event.bytes()
            try admitted.entries.withUnsafeBytes { entries in
                let entry = try #require(HitEncoding.event(at: accepted.entryOffset, in: entries))
                let stored = entry.bytes
                #expect(stored.starts(with: sent))
                let proto = try Sightline_V1_TrackingEvent(serializedBytes: [UInt8](stored))
                #expect(proto.push.raw.json == Data(json.utf8))
                #expect(proto.rawIds.deliveryID == delivery)
                #expect(proto.rawIds.messageID == message)
                let view = try EventView(stored)
                #expect(view.deliveryID.text == delivery && view.broadlogID.text == message)
                #expect(view.effectivePlatform == .android && view.product == .standard)
                let key = "default".withBytes { view.keys(tenant: $0).fact }
                #expect(key == accepted.key)
                #expect(entry.deliveryID.text == delivery && entry.broadlogID.text == message)
                #expect(entry.platform == .android && entry.product == .standard)
            }
        }
    }
}
