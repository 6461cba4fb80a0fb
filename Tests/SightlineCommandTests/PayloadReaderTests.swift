// The reader against the vendors' payloads, and against JSON that the contract cannot carry.

internal import Foundation
internal import JSON
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import TrackingRules
internal import WireFormat
internal import sightline

struct PayloadReaderTests {
    private let reader = PayloadReader()

    private func event(_ data: Data, _ platform: Platform) throws -> Sightline_V1_TrackingEvent {
        try self.reader.event(from: data, platform: platform, interaction: .opened)
    }

    private func apns(_ json: String) throws -> Sightline_V1_ApnsPayload {
        let event = try self.event(Data(json.utf8), .ios)
        try #require(event.push.payload == .apns(event.push.apns), "it is raw")
        return event.push.apns
    }

    private func fcm(_ json: String) throws -> Sightline_V1_FcmPayload {
        let event = try self.event(Data(json.utf8), .android)
        try #require(event.push.payload == .fcm(event.push.fcm), "it is raw")
        return event.push.fcm
    }

    @Test("D31, D34: the vendor's payload of iOS is read whole")
    func apnsAlert() throws {
        let payload = try self.event(Fixtures.data("apns-alert.json"), .ios).push.apns
        #expect(payload.aps.alert.title == "Push Notification Title")
        #expect(payload.aps.alert.body == "This is the content of my push notification")
        #expect(payload.aps.hasBadge && payload.aps.badge == 2)
        #expect(payload.aps.sound == "default")
        #expect(payload.aps.category == "NEW_MESSAGE_CATEGORY")
        #expect(payload.aps.contentAvailable == 1 && payload.aps.mutableContent == 1)
        #expect(payload.mediaAttachmentURL.hasSuffix("9440145363/Creative_Cloud.jpeg"))
        #expect(payload.uri == "https://mydeeplinkurl.com")
        #expect(payload.deliveryID == "56c4" && payload.messageID == "h138a")
        #expect(!payload.hasAcsDeliveryTracking)
        let custom = ["custom_field1": "custom_value1", "custom_field2": "custom_value2"]
        #expect(payload.customFields == custom)
    }

    @Test(
        "D32, D33, D34: the vendor's payloads of Android are read whole, a tester's token too",
        arguments: [
            ("fcm-sent.json", ""),
            ("fcm-tester.json", "<==========ENTER your device token==============>"),
        ])
    func fcmSamples(name: String, to: String) throws {
        let payload = try self.event(Fixtures.data(name), .android).push.fcm
        #expect(payload.to == to)
        #expect(payload.collapseKey == "1476005" && payload.priority == "high")
        #expect(payload.data.deliveryID == "d57fd6" && payload.data.messageID == "h1685a5")
        #expect(payload.data.title == "adobe title 123" && payload.data.body == "adobe body 123")
        #expect(payload.data.category == "adobe category 123")
        #expect(payload.data.sound.hasSuffix("?id=s1685a5,d57fd6,d57ff5"))
        #expect(payload.data.uri.hasSuffix("?id=d1685a5,d57fd6,d57ff6"))
        #expect(payload.data.mediaAttachmentURL == "http://adobegiphy.com?test=123")
        #expect(payload.data.hasBadge && payload.data.badge == 1817)
        let custom = [
            "custom key 1": "value 1", "custom key 2": "test value 2",
            "custom key 3": "foo bar android",
        ]
        #expect(payload.data.customFields == custom)
    }

    @Test("D11, D35: a payload without ids is read, and the server then names what is missing")
    func withoutIDs() throws {
        let payload = try self.event(Fixtures.data("apns-tester.json"), .ios).push.apns
        #expect(payload.deliveryID.isEmpty && payload.messageID.isEmpty)
        #expect(payload.aps.badge == 33)
        #expect(try !self.fcm(#"{"priority":"high"}"#).hasData)
    }

    @Test(
        "D1, D5: a flag keeps its letters; on iOS one that is no string counts as absent",
        arguments: [
            ("\"ON\"", "ON", "ON"), ("\"\"", "", ""), ("\" on \"", " on ", " on "),
            ("true", "true", nil), ("1", "1", nil), ("null", "null", nil), ("[1]", "[1]", nil),
        ] as [(String, String, String?)])
    func flags(json: String, android: String, ios: String?) throws {
        let members = #"{"_acsDeliveryTracking":\#(json)}"#
        let data = try self.fcm(#"{"data":\#(members)}"#).data
        #expect(data.hasAcsDeliveryTracking && data.acsDeliveryTracking == android)
        let payload = try self.apns(members)
        #expect(payload.hasAcsDeliveryTracking == (ios != nil))
        #expect(payload.acsDeliveryTracking == ios ?? "")
        #expect(payload.customFields.isEmpty && data.customFields.isEmpty)
    }

    @Test(
        "D33: a badge is an integer or decimal digits",
        arguments: [
            ("2", 2), ("\"2\"", 2), ("0", 0), ("\"007\"", 7), ("2147483647", .max),
            ("\"2147483647\"", .max), ("-1", -1), ("null", nil),
            ("2147483648", nil), ("\"2147483648\"", nil), ("2.5", nil), ("\"two\"", nil),
            ("\"\"", nil), ("\"-1\"", nil), ("\"٣\"", nil), ("true", nil),
        ] as [(String, Int32?)])
    func badges(json: String, badge: Int32?) throws {
        let android = try self.event(Data(#"{"data":{"badge":\#(json)}}"#.utf8), .android).push
        let ios = try self.event(Data(#"{"aps":{"badge":\#(json)}}"#.utf8), .ios).push
        guard badge != nil || json == "null" else {
            // No field holds it, so it travels as it is.
            #expect(android.payload == .raw(android.raw) && ios.payload == .raw(ios.raw))
            return
        }
        #expect((android.fcm.data.hasBadge ? android.fcm.data.badge : nil) == badge)
        #expect((ios.apns.aps.hasBadge ? ios.apns.aps.badge : nil) == badge)
        #expect(android.payload == .fcm(android.fcm) && ios.payload == .apns(ios.apns))
    }

    @Test("D31, D32: custom fields keep their keys, and values that are no strings as JSON text")
    func customFields() throws {
        let fields = #"{"":"empty","a b":"x","n":1,"t":true,"z":null,"o":{"b":[1.5],"a":"é"}}"#
        let expected = [
            "": "empty", "a b": "x", "n": "1", "t": "true", "z": "null",
            "o": #"{"a":"é","b":[1.5]}"#,
        ]
        #expect(try self.apns(fields).customFields == expected)
        #expect(try self.fcm(#"{"data":\#(fields)}"#).data.customFields == expected)
    }

    @Test("D31: an alert may be a string, which is its body")
    func alertText() throws {
        let payload = try self.apns(#"{"aps":{"alert":"hello"}}"#)
        #expect(payload.aps.alert.body == "hello" && payload.aps.alert.title.isEmpty)
    }

    @Test("D31: Apple's keys that have no field are kept in aps, as they are")
    func otherFields() throws {
        let payload = try self.apns(
            #"{"aps":{"alert":{"title":"t","subtitle":"s","loc-args":["a"]},"thread-id":"x","#
                + #""sound":{"critical":1,"name":"n"},"relevance-score":0.5,"x":null}}"#)
        #expect(payload.aps.alert.title == "t" && payload.aps.sound.isEmpty)
        let others = [
            "alert": #"{"loc-args":["a"],"subtitle":"s"}"#, "thread-id": "x", "x": "null",
            "sound": #"{"critical":1,"name":"n"}"#, "relevance-score": "0.5",
        ]
        #expect(payload.aps.otherFields == others)
        #expect(payload.customFields.isEmpty)
    }

    @Test(
        "D31, D32: what the typed messages cannot hold travels raw, byte for byte",
        arguments: [
            (.ios, #"{"_mId":5}"#), (.ios, #"{"uri":{}}"#), (.ios, #"{"aps":[]}"#),
            (.ios, #"{"aps":{"alert":7}}"#), (.ios, #"{"aps":{"alert":{"title":true}}}"#),
            (.ios, #"{"aps":{"mutable-content":"1"}}"#),
            (.ios, #"{"message":{"apns":{"payload":{}}}}"#), (.ios, #"{"_dId":"a","_dId":"b"}"#),
            (.ios, #"{"_dId":"a","data":{"_dId":"b"}}"#), (.ios, #"{"data":{"_dId":"b"}}"#),
            (.ios, #"{"a":"\#(String(repeating: "x", count: 1025))"}"#),
            (.android, #"{"_dId":"a","_mId":"h1"}"#), (.android, #"{"data":{"title":1}}"#),
            (.android, #"{"data":{"badge":"x"}}"#), (.android, #"{"data":{},"priority":1}"#),
            (.android, #"{"notification":{},"data":{}}"#), (.android, #"{"message":{"data":{}}}"#),
        ] as [(Platform, String)])
    func raw(platform: Platform, json: String) throws {
        let event = try self.event(Data(json.utf8), platform)
        #expect(event.push.payload == .raw(event.push.raw))
        #expect(event.push.raw.json == Data(json.utf8))
        #expect(event.platform == (platform == .ios ? .ios : .android))
    }

    @Test(
        "What is no JSON object is refused with its reason",
        arguments: [
            ("", "JSON"), ("{\"a\":", "JSON"), ("[1]", "an array: [1]"), ("5", "an integer: 5"),
            ("{\"a\":1e999}", "64-bit"),
        ])
    func malformed(json: String, reason: String) {
        let error = #expect(throws: PayloadError.self) { try self.event(Data(json.utf8), .ios) }
        #expect(error.map { "\($0)" }?.contains(reason) == true, "\(String(describing: error))")
    }

    @Test("Bytes are read up to the limit, and one beyond is refused")
    func sizeIsBounded() throws {
        let limit = PayloadReader.maximumByteCount
        let padded = Data("{}".utf8) + Data(repeating: UInt8(ascii: " "), count: limit - 2)
        #expect(try self.reader.document(from: padded).value == .object([:]))
        let error = PayloadError.tooLarge(byteCount: limit + 1, limit: limit)
        #expect(throws: error) { try self.reader.document(from: padded + Data(" ".utf8)) }
    }

    @Test(
        "D31, D32: an event holds platform, payload and what happened; its id and time stay empty",
        arguments: [
            ("apns-alert.json", .ios), ("fcm-sent.json", .android),
        ] as [(String, Platform)],
        [.received, .dismissed, .opened] as [Sightline_V1_PushInteractionKind])
    func events(
        sample: (name: String, platform: Platform), kind: Sightline_V1_PushInteractionKind
    ) throws {
        let event = try self.reader.event(
            from: try Fixtures.data(sample.name), platform: sample.platform, interaction: kind)
        #expect(event.push.kind == kind)
        #expect(event.eventID.isEmpty && !event.hasOccurTime)
        switch sample.platform {
        case .ios:
            #expect(event.platform == .ios && event.push.apns.messageID == "h138a")
        case .android:
            #expect(event.platform == .android && event.push.fcm.data.messageID == "h1685a5")
        }
    }
}
