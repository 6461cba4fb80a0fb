// Right keys in wrong places, and nearly right keys.

internal import PayloadInspector
internal import Testing
internal import TrackingRules

struct PayloadPlacesTests {
    private static let placeRows: [PayloadRow] = [
        PayloadRow(
            .ios, #"{"aps":{"alert":{"_mId":"h1","_dId":"a"}}}"#, .error, "aps.alert._mId",
            "top level", "h1", tracked: false),
        PayloadRow(.ios, #"{"aps":{"_dId":"a"},"_mId":"h1"}"#, .error, "aps._dId", tracked: false),
        PayloadRow(
            .ios, #"{"aps":{"alert":{"_mId":"h1"}},\#(PayloadRow.ids)}"#, .note, "aps.alert._mId",
            "can go", tracked: true),
        PayloadRow(
            .ios, #"{"data":{\#(PayloadRow.ids)},"priority":"high"}"#, .error, "data._mId",
            "top level",
            tracked: false),
        PayloadRow(
            .ios, #"{"data":{\#(PayloadRow.ids)}}"#, .warning, "",
            "give what is in `data` alone", "inspect it as one", tracked: false),
        PayloadRow(
            .android, #"{"data":{"title":"t"},"_mId":"h1"}"#, .error, "_dId", "at the top level",
            tracked: false),
        PayloadRow(
            .android, #"{"data":{"_dId":"a"},"_mId":"h1"}"#, .error, "_mId", "inside `data`",
            tracked: false),
        PayloadRow(
            .android, #"{"data":{"screen":"x"},\#(PayloadRow.ids)}"#, .note, "", "map of strings",
            tracked: true),
        PayloadRow(.android, PayloadRow.soundIOS, .warning, "aps", "inspect", tracked: false),
        PayloadRow(.android, PayloadRow.soundIOS, .error, "_dId", "inside `data`", tracked: false),
        PayloadRow(
            .android, #"{"message":{"data":{\#(PayloadRow.ids)}}}"#, .note, "message",
            "FCM v1", "inside `message.data`", tracked: true),
        PayloadRow(
            .android, #"{"message":{"data":{},\#(PayloadRow.ids)}}"#, .error, "message._mId",
            "inside `message.data`", tracked: false),
        PayloadRow(
            .android, #"{"message":{"token":"t"}}"#, .error, "message.data", "missing",
            tracked: false),
        PayloadRow(
            .ios, #"{"message":{"apns":{"payload":{"aps":{"alert":{"_mId":"h1"}},"_dId":"a"}}}}"#,
            .error, "message.apns.payload.aps.alert._mId", tracked: false),
        PayloadRow(
            .ios, #"{"message":{"data":{\#(PayloadRow.ids)},"apns":{"payload":{"aps":{}}}}}"#,
            .note, "message", "inside `message.apns.payload` or `message.data`", tracked: true),
        PayloadRow(
            .ios, #"{"token":"t","data":{\#(PayloadRow.ids)}}"#, .note, "", "FCM v1",
            "inside `data`", tracked: true),
        PayloadRow(
            .android, #"{"token":"t","android":{"data":{\#(PayloadRow.ids)}}}"#, .note, "token",
            "tester", tracked: true),
        PayloadRow(
            .ios, #"{"message":{"data":{"_dId":"a"},"android":{"data":{"_mId":"h1"}}}}"#, .error,
            "message.android.data._mId", "inside `message.data`; move it there", tracked: false),
        PayloadRow(
            .ios, #"{"apns":{"payload":{"_mId":5}},"token":"t","data":{"_mId":"h1","_dId":"a"}}"#,
            .error, "apns.payload._mId", "quotes", tracked: false),
        PayloadRow(
            .ios,
            #"{"message":{"data":{"_dId":"a b"},"apns":{"payload":{"_mId":"h1"}}}}"#,
            .error, "message.data._dId", "URL", tracked: false),
        PayloadRow(
            .android,
            #"{"message":{"data":{"_acsDeliveryTracking":"off"},"#
                + #""android":{"data":{\#(PayloadRow.ids)}}}}"#,
            .error, "message.data._acsDeliveryTracking", "switched off", tracked: false),
        PayloadRow(.android, "{\(PayloadRow.ids)}", .note, "", "map of strings", tracked: true),
        PayloadRow(
            .android, #"{"data":{\#(PayloadRow.ids)},"_mId":"h2"}"#, .error, "_mId",
            "two different values", tracked: false),
        PayloadRow(
            .ios, #"{"aps":{"_acsDeliveryTracking":"off"},"_dId":"a","_mId":"h1"}"#, .warning,
            "aps._acsDeliveryTracking", "off", tracked: true),
        PayloadRow(
            .ios, #"{"mutable-content":1,"aps":{},\#(PayloadRow.ids)}"#, .warning,
            "mutable-content",
            "inside `aps`", tracked: true),
        PayloadRow(
            .ios, #"{"aps":{"uri":"u"},\#(PayloadRow.ids)}"#, .warning, "aps.uri", "top level",
            tracked: true),
        PayloadRow(
            .ios, #"{"aps":{"title":"t"},\#(PayloadRow.ids)}"#, .warning, "aps.title", "aps.alert",
            tracked: true),
        PayloadRow(
            .android, #"{"uri":"u","data":{\#(PayloadRow.ids)}}"#, .warning, "uri", "inside `data`",
            tracked: true),
        PayloadRow(
            .android, #"{"data":{"mutable-content":"1",\#(PayloadRow.ids)}}"#, .note,
            "data.mutable-content", "iOS", tracked: true),
    ]

    @Test(
        "D1, D13, D34: a key nested in aps.alert, or at another wrong place, is named",
        arguments: placeRows)
    func places(row: PayloadRow) throws {
        try row.check()
    }

    private static let textRows: [PayloadRow] = [
        PayloadRow(
            .android, #"{"data":{"body":"{\"_mId\":\"h1\",\"_dId\":\"a\"}"}}"#, .error,
            "data.body._mId", "in a string that holds JSON", "inside `data`; move it there",
            tracked: false),
        PayloadRow(
            .ios, #"{"aps":{},"custom":" {\"a\":{\"_dId\":\"a\"}}","_mId":"h1"}"#, .error,
            "custom.a._dId", "inside `custom.a`, in a string", "at the top level", tracked: false),
        PayloadRow(
            .android, #"{"data":"{\"_mId\":\"h1\",\"_dId\":\"a\"}"}"#, .error, "data._mId",
            "inside `data`, in a string", tracked: false),
        // A text in a text.
        PayloadRow(
            .ios, #"{"a":"{\"b\":\"{\\\"_dId\\\":\\\"a\\\"}\"}","_mId":"h1"}"#, .error, "a.b._dId",
            "in a string", tracked: false),
        PayloadRow(
            .ios, #"{"aps":{},"body":"{\"_dId\":\"56c4\"}",\#(PayloadRow.ids)}"#, .note,
            "body._dId", "can go", tracked: true),
    ]

    @Test("D13: ids in a text that is JSON itself are found", arguments: textRows)
    func texts(row: PayloadRow) throws {
        try row.check()
    }

    @Test(
        "D13: a message for all platforms gets no advice on the places that others read",
        arguments: [
            (#"{"message":{"data":{\#(ids)},"android":{"data":{\#(ids)}}}}"#, .android),
            (#"{"message":{"data":{\#(ids)},"android":{"data":{\#(ids)}}}}"#, .ios),
            (#"{"message":{"data":{\#(ids)},"apns":{"payload":{\#(ids)}}}}"#, .android),
            (#"{"message":{"data":{\#(ids)},"apns":{"payload":{\#(ids)}}}}"#, .ios),
            (#"{"data":{\#(ids)},"android":{"data":{\#(ids)}},"apns":{}}"#, .android),
            (#"{"data":{\#(ids)},"android":{"data":{\#(ids)}},"apns":{}}"#, .ios),
            (#"{"data":{\#(ids)},"apns":{"payload":{\#(ids)}}}"#, .android),
        ] as [(String, Platform)])
    func universal(json: String, platform: Platform) throws {
        let inspection = try PayloadRow.inspect(json, platform)
        let keys = ["_mId", "_dId", "_acsDeliveryTracking"]
        #expect(inspection.tracked)
        #expect(
            !inspection.findings.contains { finding in
                keys.contains { finding.key.hasSuffix($0) }
            }, "\(inspection.findings)")
    }

    private static let ids = PayloadRow.ids

    @Test(
        "D13: FCM's own keys get no advice, and what is like them does",
        arguments: [
            ("from", false), ("collapse_key", false), ("message_type", false),
            ("rawData", false), ("gcm.n.e", false), ("gcm.message_id", false),
            ("google.sent_time", false), ("google.c.a.e", false), ("gcmx", true),
            ("googlee", true), ("From", true), ("collapse-key", true),
        ])
    func keysOfFCM(key: String, isAdvised: Bool) throws {
        for json in [#"{"\#(key)":5,\#(Self.ids)}"#, #"{"data":{"\#(key)":5,\#(Self.ids)}}"#] {
            let keys = try PayloadRow.inspect(json, .android).findings.map(\.key)
            #expect(keys.contains { $0.hasSuffix(key) } == isAdvised, "\(keys)")
        }
    }

    private static let nameRows: [PayloadRow] = [
        PayloadRow(
            .ios, #"{"_mid":"h1","_dId":"a"}"#, .error, "_mid", "mean `_mId`", tracked: false),
        PayloadRow(
            .ios, #"{"_mId":"h1","_did":"a"}"#, .error, "_did", "mean `_dId`", tracked: false),
        PayloadRow(
            .android, #"{"data":{"mId":"h1","_dId":"a"}}"#, .error, "data.mId", "mean `_mId`",
            tracked: false),
        // As the vendor's own page has them, with a small L.
        PayloadRow(
            .ios, #"{"_mld":"h1","_dId":"a"}"#, .error, "_mld", "mean `_mId`",
            "a capital i where this has `l`", tracked: false),
        PayloadRow(
            .android, #"{"data":{"_mId":"h1","_dld":"a"}}"#, .error, "data._dld", "mean `_dId`",
            tracked: false),
        PayloadRow(
            .ios, #"{"_m1d":"h1","_dId":"a"}"#, .error, "_m1d", "mean `_mId`", tracked: false),
        PayloadRow(
            .ios, #"{"aps":{},"deliveryld":"a","_mId":"h1"}"#, .error, "deliveryld",
            "only as `_dId`", tracked: false),
        PayloadRow(
            .android, #"{"message":{"data":{"_mld":"h1","_dId":"a"}}}"#, .error,
            "message.data._mld", tracked: false),
        PayloadRow(
            .ios,
            #"{"message":{"data":{"_mld":"h1"},"apns":{"payload":{"aps":{},"_dId":"a"}}}}"#,
            .error, "message.data._mld", "mean `_mId`", tracked: false),
        PayloadRow(
            .ios, #"{"_mid":"h1",\#(PayloadRow.ids)}"#, .note, "_mid", "custom field", tracked: true
        ),
        PayloadRow(
            .ios, #"{"aps":{"alert":{"_mid":"h1"}},"_dId":"a"}"#, .error, "aps.alert._mid",
            "mean `_mId`", tracked: false),
        PayloadRow(
            .ios, #"{"acsDeliveryTracking":"off","_dId":"a","_mId":"h1"}"#, .warning,
            "acsDeliveryTracking", "mean `_acsDeliveryTracking`", "off", tracked: true),
        PayloadRow(
            .android, #"{"data":{"_acsdeliverytracking":"off","_dId":"a","_mId":"h1"}}"#,
            .warning, "data._acsdeliverytracking", tracked: true),
        PayloadRow(
            .ios, #"{"_acsDelivryTracking":"off","_dId":"a","_mId":"h1"}"#, .warning,
            "_acsDelivryTracking", tracked: true),
        PayloadRow(
            .ios, #"{"aps":{"mutableContent":1},\#(PayloadRow.ids)}"#, .warning,
            "aps.mutableContent",
            "`mutable-content`, inside `aps`", tracked: true),
        PayloadRow(
            .android, #"{"data":{"media_attachment_url":"u",\#(PayloadRow.ids)}}"#, .warning,
            "data.media_attachment_url", tracked: true),
        PayloadRow(
            .ios, #"{"aps":{},"messageId":"h1","_dId":"a"}"#, .error, "messageId",
            "only as `_mId`", tracked: false),
        PayloadRow(
            .android, #"{"data":{"deliveryId":"a","_mId":"h1"}}"#, .error, "data.deliveryId",
            "only as `_dId`", tracked: false),
        PayloadRow(
            .ios, #"{"aps":{},"messageId":"h1",\#(PayloadRow.ids)}"#, .note, "messageId",
            "custom field",
            tracked: true),
    ]

    private static let repeatedRows: [PayloadRow] = [
        PayloadRow(
            .ios, #"{"aps":{},"promo":1,"promo":2,\#(PayloadRow.ids)}"#, .warning, "promo", "twice",
            tracked: true),
        PayloadRow(
            .android, #"{"data":{"a":"1","a":"2","a":"3",\#(PayloadRow.ids)}}"#, .warning, "data.a",
            "twice", tracked: true),
        PayloadRow(
            .ios, #"{"aps":{},"_mId":"h1","_mId":"h2","_dId":"a"}"#, .error, "_mId",
            "two different values", tracked: false),
    ]

    @Test("D32: a key that is twice in an object with two values is named", arguments: repeatedRows)
    func repeats(row: PayloadRow) throws {
        try row.check()
        let keys = try PayloadRow.inspect(row.json, row.platform).findings.map(\.key)
        #expect(keys.count { $0 == row.key } == 1, "each is named once")
    }

    @Test("keys that Unicode takes for equal are two keys, and no repetition")
    func spellings() throws {
        let json = "{\"aps\":{\"content-available\":1},\"caf\u{e9}\":1,\"cafe\u{301}\":2,"
        let inspection = try PayloadRow.inspect(json + PayloadRow.ids + "}", .ios)
        #expect(inspection.findings == [])
    }

    @Test("D1, D13: a key that is nearly right gets a did-you-mean", arguments: nameRows)
    func names(row: PayloadRow) throws {
        try row.check()
    }
}
