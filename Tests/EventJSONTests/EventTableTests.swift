internal import EventJSON
internal import Testing

struct EventTableTests {
    @Test(
        "a violation's path is told in the names of JSON",
        arguments: [
            ("push.fcm.data.delivery_id", "push.fcm.data._dId"), ("event_id", "eventId"),
            ("push.apns.aps.mutable_content", "push.apns.aps.mutable-content"),
            ("in_app.event", "inApp.event"), ("push.payload", "push.payload"),
            ("interaction", "interaction"), ("push.raw.json._dId", "push.raw.json._dId"),
            ("push.apns.custom_fields.key", "push.apns.customFields.key"),
            ("track_action.broadlog_id", "trackAction.broadlogId"), ("event", "event"), ("", ""),
        ])
    func paths(path: String, json: String) throws {
        #expect(try EventTable.own().jsonPath(of: path) == json)
    }

    @Test("the first message is the event, and each message and enum is there once")
    func messages() throws {
        let table = try EventTable.own()
        #expect(table.messages.first?.name == "TrackingEvent")
        #expect(Set(table.messages.map(\.name)).count == table.messages.count)
        #expect(Set(table.enumerations.map(\.name)).count == table.enumerations.count)
        #expect(table.messages.first?.fields.first?.jsonName == "eventId")
    }

    @Test("an answer's enums have their names, and a number without one is told as it is")
    func enumNames() {
        #expect(EnumNames.verdict.name(of: 8) == "VERDICT_REJECTED")
        #expect(EnumNames.hitKind.name(of: 2) == "HIT_KIND_CLICK")
        #expect(EnumNames.violationCode.name(of: 6) == "VIOLATION_CODE_MALFORMED")
        #expect(EnumNames.warning.name(of: 8) == "WARNING_CLOCK_SKEW")
        #expect(EnumNames.verdict.name(of: 99) == "Verdict 99")
    }
}
