// The reader against the vendors' payloads, and against JSON that the contract cannot carry.

internal import EventFiles
internal import Foundation
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import TrackingCore

struct PayloadReaderTests {
    private let reader = PayloadReader()

    private func apns(_ json: String) throws -> Sightline_V1_ApnsPayload {
        try self.reader.apnsPayload(from: Data(json.utf8))
    }

    private func fcm(_ json: String) throws -> Sightline_V1_FcmPayload {
        try self.reader.fcmPayload(from: Data(json.utf8))
    }

    @Test("D31, D34: the vendor's payload of iOS is read whole")
    func apnsAlert() throws {
        let payload = try self.reader.apnsPayload(from: try Fixtures.data("apns-alert.json"))
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
        let payload = try self.reader.fcmPayload(from: try Fixtures.data(name))
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
        let payload = try self.reader.apnsPayload(from: try Fixtures.data("apns-tester.json"))
        #expect(payload.deliveryID.isEmpty && payload.messageID.isEmpty)
        #expect(payload.aps.badge == 33)
        #expect(try !self.fcm("{}").hasData)
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
        let payloads = [
            Result { try self.fcm(#"{"data":{"badge":\#(json)}}"#).data }
                .map { $0.hasBadge ? $0.badge : nil },
            Result { try self.apns(#"{"aps":{"badge":\#(json)}}"#).aps }
                .map { $0.hasBadge ? $0.badge : nil },
        ]
        for payload in payloads {
            if badge != nil || json == "null" {
                #expect(try payload.get() == badge)
            } else {
                #expect(throws: PayloadError.self) { try payload.get() }
            }
        }
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

    @Test(
        "D31, D32: a known key of a wrong type, or one that has no field, is named with its fix",
        arguments: [
            (.ios, #"{"_mId":5}"#, "_mId", "an integer: 5"),
            (.ios, #"{"uri":{}}"#, "uri", "an object: {}"),
            (.ios, #"{"aps":[]}"#, "aps", "an array: []"),
            (.ios, #"{"aps":{"alert":7}}"#, "aps.alert", "an integer: 7"),
            (.ios, #"{"aps":{"alert":{"title":true}}}"#, "aps.alert.title", "a boolean: true"),
            (.ios, #"{"aps":{"mutable-content":"1"}}"#, "aps.mutable-content", "a string: \"1\""),
            (.ios, #"{"aps":{"content-available":true}}"#, "aps.content-available", "a boolean"),
            (.ios, #"{"aps":{"alert":{"_mId":"h1"}}}"#, "aps.alert._mId", "\"h1\""),
            (.ios, #"{"aps":{"_dId":"a"}}"#, "aps._dId", "\"a\""),
            (.android, #"{"data":"x"}"#, "data", "a string: \"x\""),
            (.android, #"{"data":{"title":1}}"#, "data.title", "an integer: 1"),
            (.android, #"{"data":{"badge":"x"}}"#, "data.badge", "a string: \"x\""),
            (.android, #"{"priority":1}"#, "priority", "an integer: 1"),
            (.android, #"{"_mId":"h1","data":{}}"#, "_mId", "\"h1\""),
        ] as [(Platform, String, String, String)])
    func refusals(platform: Platform, json: String, key: String, seen: String) {
        let error = #expect(throws: PayloadError.self) {
            try self.reader.event(
                from: Data(json.utf8), platform: platform, interaction: .opened)
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.hasPrefix("`\(key)` "))
        #expect(text.contains(seen))
    }

    @Test(
        "What is no JSON object is refused with its reason",
        arguments: [
            ("", "JSON"), ("{\"a\":", "JSON"), ("[1]", "an array: [1]"), ("5", "an integer: 5"),
            ("{\"a\":1e999}", "64-bit"),
        ])
    func malformed(json: String, reason: String) {
        let error = #expect(throws: PayloadError.self) { try self.fcm(json) }
        #expect(error.map { "\($0)" }?.contains(reason) == true, "\(String(describing: error))")
    }

    @Test("Bytes are read up to the limit, and one beyond is refused")
    func sizeIsBounded() throws {
        let limit = PayloadReader.maximumByteCount
        let padded = Data("{}".utf8) + Data(repeating: UInt8(ascii: " "), count: limit - 2)
        #expect(try self.reader.value(from: padded) == .object([:]))
        let error = PayloadError.tooLarge(byteCount: limit + 1, limit: limit)
        #expect(throws: error) { try self.reader.value(from: padded + Data(" ".utf8)) }
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
