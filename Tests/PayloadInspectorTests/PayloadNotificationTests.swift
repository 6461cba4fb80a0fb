// What is named beside ids and flag: the variables of trackAction, and the notification itself.

internal import PayloadInspector
internal import Testing
internal import TrackingRules

struct PayloadNotificationTests {
    private static let actionRows: [PayloadRow] = [
        PayloadRow(
            .ios, #"{"messageId":"h1","deliveryId":"a","action":"2"}"#, .error, "messageId",
            "only as `broadlogId`", tracked: false),
        PayloadRow(
            .ios, #"{"broadlogId":"h1","deliveryId":"a","action":"1"}"#, .warning, "action",
            "open", "dismissal", "\"2\"", tracked: false),
        PayloadRow(
            .android, #"{"broadlogId":"h1","deliveryId":"a","action":1}"#, .warning, "action",
            "dismissal", tracked: false),
        PayloadRow(
            .ios, #"{"broadlogId":"h1","deliveryId":"a","action":7}"#, .warning, "action",
            "quotes", tracked: false),
        PayloadRow(
            .ios, #"{"broadlogId":"h1","deliveryId":"a","action":"6"}"#, .warning, "action",
            "does not know", tracked: false),
        PayloadRow(
            .ios, #"{"broadlogId":"h1","deliveryId":"a","action":"2"}"#, .note, "",
            "trackAction", tracked: false),
        PayloadRow(
            .ios, #"{"broadlogId":5,"deliveryId":"a","action":"2"}"#, .error, "broadlogId",
            "an integer: 5", tracked: false),
        PayloadRow(
            .ios, #"{"aps":{},"action":"1",\#(PayloadRow.ids)}"#, .warning, "action", "dismissal",
            tracked: true),
    ]

    @Test(
        "D8, D9, D12, D13, D14: the variables of trackAction are explained", arguments: actionRows)
    func actions(row: PayloadRow) throws {
        try row.check()
    }

    @Test("D8, D9: nothing is wrong with variables of trackAction that have their ids")
    func soundAction() throws {
        let json = #"{"broadlogId":"h1","deliveryId":"a","action":"2"}"#
        for finding in try PayloadRow.inspect(json, .ios).findings {
            #expect(!["broadlogId", "deliveryId"].contains(finding.key), "\(finding)")
        }
    }

    private static let notificationRows: [PayloadRow] = [
        PayloadRow(
            .ios, #"{"aps":{"badge":"2"},\#(PayloadRow.ids)}"#, .warning, "aps.badge", "2",
            tracked: true),
        PayloadRow(
            .ios, #"{"aps":{"badge":2.5},\#(PayloadRow.ids)}"#, .warning, "aps.badge", tracked: true
        ),
        PayloadRow(
            .ios, #"{"aps":{"badge":3000000000},\#(PayloadRow.ids)}"#, .warning, "aps.badge",
            tracked: true),
        PayloadRow(
            .android, #"{"data":{"badge":"two",\#(PayloadRow.ids)}}"#, .warning, "data.badge",
            "two",
            tracked: true),
        PayloadRow(
            .android, #"{"data":{"badge":true,\#(PayloadRow.ids)}}"#, .warning, "data.badge",
            "a boolean",
            tracked: true),
        PayloadRow(
            .ios, #"{"aps":{},"media-attachment-url":"u",\#(PayloadRow.ids)}"#, .warning,
            "aps.mutable-content", "absent", tracked: true),
        PayloadRow(
            .ios, #"{"aps":{"mutable-content":"1"},\#(PayloadRow.ids)}"#, .warning,
            "aps.mutable-content",
            "a string", tracked: true),
        PayloadRow(
            .ios, #"{"aps":{"category":"NEWS"},\#(PayloadRow.ids)}"#, .note, "aps.category", "NEWS",
            "customDismissAction", tracked: true),
        PayloadRow(
            .ios, #"{"aps":{},\#(PayloadRow.ids)}"#, .note, "aps.content-available", "impression",
            tracked: true),
        PayloadRow(
            .ios, #"{"aps":[],\#(PayloadRow.ids)}"#, .warning, "aps", "an array", tracked: true),
        PayloadRow(.ios, #"{\#(PayloadRow.ids)}"#, .warning, "aps", "missing", tracked: true),
        PayloadRow(
            .ios, #"{"aps":{"alert":5},\#(PayloadRow.ids)}"#, .warning, "aps.alert", tracked: true),
        PayloadRow(
            .ios, #"{"aps":{},"uri":5,\#(PayloadRow.ids)}"#, .warning, "uri", "an integer",
            tracked: true),
        PayloadRow(
            .android, #"{"data":{"custom key":{"a":1},\#(PayloadRow.ids)}}"#, .warning,
            "data.custom key",
            "{\"a\":1}", tracked: true),
        PayloadRow(
            .android, #"{"priority":"urgent","data":{\#(PayloadRow.ids)}}"#, .warning, "priority",
            "urgent",
            tracked: true),
        PayloadRow(
            .android, #"{"notification":{},"data":{\#(PayloadRow.ids)}}"#, .warning,
            "notification", "skip the app's code", "Send `data` alone", tracked: true),
        PayloadRow(
            .android, #"{"message":{"android":{"notification":{}},"data":{\#(PayloadRow.ids)}}}"#,
            .warning, "message.android.notification", "skip", tracked: true),
        PayloadRow(
            .android, #"{"message":{"token":"t","data":{"badge":true,\#(PayloadRow.ids)}}}"#,
            .warning, "message.data.badge", "a boolean", tracked: true),
        PayloadRow(
            .android, #"{"message":{"token":"t","data":{\#(PayloadRow.ids)}}}"#, .note,
            "message.token", "tester", tracked: true),
        PayloadRow(
            .android, #"{"to":"token","data":{\#(PayloadRow.ids)}}"#, .note, "to", "tester",
            tracked: true),
        PayloadRow(.ios, "[1]", .error, "", "an array", tracked: false),
    ]

    @Test(
        "D13, D16, D31, D32, D33: what spoils the notification is named",
        arguments: notificationRows)
    func notifications(row: PayloadRow) throws {
        try row.check()
    }

    @Test(
        "D33: a badge on Android is an integer or decimal digits", arguments: ["1817", "\"1817\""])
    func androidBadge(badge: String) throws {
        let json = #"{"data":{"badge":\#(badge),\#(PayloadRow.ids)}}"#
        #expect(try PayloadRow.inspect(json, .android).findings == [])
    }
}
