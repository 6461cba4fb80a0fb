// What an event in JSON may be, and what is told of one that it may not.
internal import EventJSON
internal import Foundation
internal import JSON
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing

struct EventTranscoderTests {
    /// A text, the field that is wrong with the offset of its name, what is there, what is wanted,
    /// and the kind of the fault.
    private static let faults: [(String, String, Int?, String, String, EventFault.Kind)] = [
        (#"{"eventId":"c","foo":1}"#, "foo", 15, "unknown: 1", "eventId", .shape),
        (#"{"eventID":"c"}"#, "eventID", 1, "unknown", "did you mean eventId?", .shape),
        (#"{"push":{"raw":{"Json":""}}}"#, "push.raw.Json", 16, "unknown", "RawPayload", .shape),
        (
            #"{"push":{"apns":{"orderId":"1"}}}"#, "push.apns.orderId", 17, "unknown",
            "customFields", .shape
        ),
        (#"{"occurTime":"yesterday"}"#, "occurTime", 1, "\"yesterday\"", "a time such", .format),
        (#"{"occurTime":{"seconds":1}}"#, "occurTime", 1, "an object", "a time such", .shape),
        (#"{"occurTimeMillis":"now"}"#, "occurTimeMillis", 1, "\"now\"", "milliseconds", .shape),
        (#"{"occurTimeMillis":1e20}"#, "occurTimeMillis", 1, "1e+20", "milliseconds", .range),
        (
            #"{"occurTime":"2026-01-31T12:00:00Z","occurTimeMillis":1}"#, "occurTimeMillis", 36,
            "there twice", "there once", .conflict
        ),
        (#"{"push":{"kind":"X"}}"#, "push.kind", 9, "\"X\"", "KIND_OPENED", .range),
        (#"{"push":{"kind":true}}"#, "push.kind", 9, "true", "KIND_OPENED", .shape),
        (#"{"push":{"kind":1.5}}"#, "push.kind", 9, "1.5", "KIND_OPENED", .range),
        (#"{"push":5}"#, "push", 1, "an integer: 5", "an object, a PushInteraction", .shape),
        (#"{"eventId":5}"#, "eventId", 1, "an integer: 5", "a string", .shape),
        (#"{"event_id":["a"]}"#, "event_id", 1, "an array", "a string", .shape),
        (#"{"inApp":{"testMessage":"true"}}"#, "inApp.testMessage", 10, "true", "false", .shape),
        (
            #"{"push":{"apns":{"aps":{"badge":"two"}}}}"#, "push.apns.aps.badge", 24, "\"two\"",
            "an integer of 32 bits", .shape
        ),
        (
            #"{"push":{"apns":{"aps":{"badge":2147483648}}}}"#, "push.apns.aps.badge", 24,
            "2147483648", "an integer of 32 bits", .range
        ),
        (
            #"{"push":{"apns":{"customFields":{"orderId":18446744073709551615}}}}"#,
            "push.apns.customFields.orderId", 33, "a number", "a string", .shape
        ),
        (
            #"{"push":{"apns":{"customFields":["a"]}}}"#, "push.apns.customFields", 17,
            "an array", "an object", .shape
        ),
        (#"{"push":{},"trackAction":{}}"#, "trackAction", 11, "beside `push`", "alone", .conflict),
        (#"{"eventId":"a","event_id":"a"}"#, "event_id", 15, "twice", "once", .conflict),
        (
            #"{"inApp":{"appData":{"a":"1","\u0061":"1"}}}"#, "inApp.appData.a", 29, "twice",
            "once", .conflict
        ),
        (#"{"inApp":{"appData":{"a":null}}}"#, "inApp.appData.a", 21, "null", "a string", .shape),
        (#"{"eventId":"\ud83d"}"#, "eventId", 1, "surrogates in pairs", "a string", .format),
        (
            #"{"inApp":{"appData":{"\ud83d":"a"}}}"#, "inApp.appData", 10, "pairs", "an object",
            .format
        ),
        (
            #"{"push":{"raw":{"json":"{}"}}}"#, "push.raw.json", 16, "a string: \"{}\"",
            "the payload itself", .format
        ),
        (#"{"push":{"raw":{"json":7}}}"#, "push.raw.json", 16, "7", "base64", .shape),
        ("[]", "", nil, "an array", "an object, a TrackingEvent", .shape),
        ("null", "", nil, "null", "an object, a TrackingEvent", .shape),
    ]

    @Test("a fault: the field, its place, what is there, and what is wanted", arguments: faults)
    func fault(
        text: String, field: String, offset: Int?, seen: String, wanted: String,
        kind: EventFault.Kind
    ) throws {
        let found = Transcoded(text)
        let fault = try #require(found.fault, "\(found)")
        #expect(fault.field == field)
        #expect(fault.offset == offset)
        #expect(fault.seen.contains(seen), "\(fault)")
        #expect(fault.wanted.contains(wanted), "\(fault)")
        #expect(fault.kind == kind, "\(fault)")
        #expect(found.bytes.isEmpty && found.offset == text.utf8.count)
    }

    @Test(
        "an object or array in a wrong place is quoted up to a limit, and larger ones by their size",
        arguments: [("[", "]", "an array"), (#"{"a":["#, "]}", "an object")])
    func describedSize(start: String, end: String, kind: String) throws {
        let limit = EventTranscoder.maxDescribedBytes
        for (name, wanted) in [("eventId", kind), ("foo", "unknown: ")] {
            func seen(_ count: Int) throws -> String {
                let space = String(repeating: " ", count: count - (start + end).utf8.count - 1)
                let text = #"{"\#(name)":\#(start)7\#(space)\#(end)}"#
                return try #require(Transcoded(text).fault).seen
            }
            let quoted = try seen(limit)
            #expect(quoted.hasPrefix(wanted) && quoted.contains("[7]"), "\(quoted)")
            let sized = try seen(limit + 1)
            #expect(sized.hasPrefix(wanted), "\(sized)")
            #expect(sized.hasSuffix("\(kind) of \(limit + 1) bytes"), "\(sized)")
        }
        let text = String(repeating: "a", count: limit)
        let long = try #require(Transcoded(#"{"push":"\#(text)"}"#).fault)
        #expect(long.seen.hasPrefix("a string: \"aaa"), "a string takes no more than its bytes")
    }

    @Test("of an event that is none, the id is told wherever it stands")
    func eventID() {
        for text in [#"{"foo":1,"eventId":"e1"}"#, #"{"event_id":"e1","push":[]}"#] {
            #expect(Transcoded(text).fault?.eventID == "e1", "\(text)")
        }
        #expect(Transcoded(#"{"foo":1,"eventId":5}"#).fault?.eventID == "")
    }

    @Test(
        "what is no JSON is so whatever else is wrong, with the place",
        arguments: [
            (#"{"eventId":"b",}"#, 15), (#"{"foo":1,"a" 1}"#, 13), ("nul", 3), ("[1 2]", 3),
            (#"{"foo":01}"#, 8), (#"{"eventId":"a"#, 13), ("", 0), (#"{"foo":"\x"}"#, 9),
        ])
    func syntax(text: String, offset: Int) {
        let found = Transcoded(text)
        #expect(found.jsonFault?.offset == offset, "\(found)")
    }

    @Test("strings are bytes: what is no UTF-8 is refused, and named by its field")
    func invalidUTF8() throws {
        let text = Array(#"{"appId":"a"#.utf8) + [0xff] + Array(#"","eventId":"e"}"#.utf8)
        let fault = try #require(Transcoded(text).fault)
        #expect(fault.field == "appId" && fault.wanted.contains("UTF-8") && fault.eventID == "e")
    }

    @Test(
        "a payload is JSON itself, whose bytes are kept, or base64 of either alphabet",
        arguments: [
            (
                #"{ "_dId" :"56c4","n":1.50, "x":"\ud83d" }"#,
                #"{ "_dId" :"56c4","n":1.50, "x":"\ud83d" }"#
            ),
            ("[1, 2]", "[1, 2]"), (#""eyJhIjoxfQ==""#, #"{"a":1}"#),
            (#""eyJhIjoxfQ""#, #"{"a":1}"#),
            (#""Pz8_""#, "???"), (#""Pz8/""#, "???"), (#""""#, ""),
        ])
    func payload(json: String, bytes: String) throws {
        let found = Transcoded(#"{"push":{"raw":{"json":\#(json)},"kind":3}}"#)
        #expect(found.isWhole, "\(found)")
        let event = try #require(found.event)
        #expect(event.push.raw.json == Data(bytes.utf8))
        #expect(event.push.kind == .opened)
    }

    @Test(
        "a time is RFC 3339, or milliseconds",
        arguments: [
            (#""occurTime":"1970-01-01T00:00:00Z""#, 0, 0),
            (#""occurTime":"2026-01-31T12:00:00.5+01:30""#, 1_769_855_400, 500_000_000),
            (#""occurTime":"2000-02-29t23:59:59.123456789z""#, 951_868_799, 123_456_789),
            (#""occurTime":"2026-01-31T12:00:00\u002B01:30""#, 1_769_855_400, 0),
            (#""occurTime":"0001-01-01T00:00:00Z""#, -62_135_596_800, 0),
            (#""occurTime":"9999-12-31T23:59:59Z""#, 253_402_300_799, 0),
            (#""occurTimeMillis":1769860800123"#, 1_769_860_800, 123_000_000),
            (#""occur_time_millis":"-1""#, -1, 999_000_000),
            (#""occurTimeMillis":253402300799999"#, 253_402_300_799, 999_000_000),
            (#""occurTimeMillis":1.5e12"#, 1_500_000_000, 0),
        ])
    func time(member: String, seconds: Int64, nanos: Int32) throws {
        let event = try #require(Transcoded("{\(member)}").event)
        #expect(event.occurTime.seconds == seconds && event.occurTime.nanos == nanos)
        #expect(event.hasOccurTime)
    }

    @Test(
        "what is no time is refused",
        arguments: [
            "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z",
            "2026-01-01 00:00:00Z", "2026-01-01T00:00:00", "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00.1234567890Z", "2026-01-01T00:00:00+0100", "0000-12-31T23:59:59Z",
            "9999-12-31T23:59:59-00:01", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00Zx", "",
        ])
    func noTime(text: String) {
        #expect(Transcoded(#"{"occurTime":"\#(text)"}"#).fault?.kind == .format)
    }

    @Test("milliseconds: the year 9999's last one, and not one more")
    func lastMillisecond() {
        #expect(Transcoded(#"{"occurTimeMillis":253402300800000}"#).fault?.kind == .range)
        #expect(Transcoded(#"{"occurTimeMillis":-62135596800000}"#).isWhole)
        #expect(Transcoded(#"{"occurTimeMillis":-62135596800001}"#).fault?.kind == .range)
        #expect(Transcoded(#"{"occurTimeMillis":-9223372036854775808}"#).fault?.kind == .range)
    }

    @Test(
        "escapes of any character are that character, also where SwiftProtobuf has another",
        arguments: [
            (#"\u00e9"#, "\u{e9}"), (#"\ud83d\ude00"#, "\u{1f600}"),
            (#"\ud83f\udfff"#, "\u{1ffff}"),
            (#"\ud840\udc00"#, "\u{20000}"), (#"\uDBFF\uDFFF"#, "\u{10ffff}"),
            (#"\/\b\n"#, "/\u{8}\n"),
        ])
    func escapes(text: String, character: String) throws {
        let event = try #require(Transcoded(#"{"eventId":"\#(text)"}"#).event)
        #expect(event.eventID.utf8.elementsEqual(character.utf8))
    }

    @Test("null is as good as absent, and empty messages are there")
    func absent() throws {
        let event = try #require(
            Transcoded(#"{"eventId":null,"push":null,"inApp":{"impression":{}}}"#).event)
        #expect(event.inApp.event == .impression(.init()) && event.eventID.isEmpty)
    }

    @Test("fields are in the order of their numbers, in whatever order they come")
    func order() throws {
        let text =
            #"{"push":{"kind":3,"fcm":{"data":{"title":"t","_mId":"h1"}}},"#
            + #""appId":"a","eventId":"e"}"#
        let found = Transcoded(text)
        let event = try #require(found.event)
        let bytes: [UInt8] = try event.serializedBytes()
        #expect(found.bytes == bytes)
    }

    @Test("D32: keys of a map that Unicode takes for equal are two")
    func keysAlike() throws {
        let text = #"{"inApp":{"appData":{"caf\u00e9":"1","cafe\u0301":"2"}}}"#
        let bytes = Transcoded(text).bytes
        for (key, value) in [("caf\u{e9}", "1"), ("cafe\u{301}", "2")] {
            let name = Array(key.utf8)
            let entry = [0x0a, UInt8(name.count)] + name + [0x12, 1] + Array(value.utf8)
            #expect(bytes.firstRange(of: entry) != nil, "\(key)")
        }
    }

    @Test(
        "a key that is there again is found among few and among many", arguments: [2, 64, 65, 500])
    func repeatedKeys(count: Int) throws {
        let keys = (1..<count).map { "\"k\($0)\":\"v\"" }
        let map = { (members: [String]) in
            Transcoded(#"{"inApp":{"appData":{\#(members.joined(separator: ","))}}}"#)
        }
        #expect(map(keys + [#""new":"v""#]).isWhole)
        let fault = try #require(map(keys + [keys[keys.count / 2]]).fault)
        #expect(fault.kind == .conflict)
    }

    @Test("long messages have long lengths", arguments: [126, 127, 128, 16_383, 16_384, 70_000])
    func lengths(count: Int) throws {
        let title = String(repeating: "a", count: count)
        let event = Sightline_V1_TrackingEvent.with {
            $0.push.apns.aps.alert.title = title
            $0.push.apns.customFields = ["k": title]
        }
        #expect(Transcoded(try event.jsonString()).event == event)
    }

    @Test("a payload nests as deep as the limit; one level more refuses its event alone")
    func depth() {
        func payload(_ levels: Int) -> Transcoded {
            let json = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
            return Transcoded(#"{"push":{"raw":{"json":\#(json)}}}"#)
        }
        #expect(payload(EventTranscoder.maxDepth).isWhole)
        let fault = payload(EventTranscoder.maxDepth + 1).fault
        #expect(fault?.kind == .size && fault?.field == "push.raw.json")
        #expect(payload(2 * EventTranscoder.maxDepth).jsonFault?.isTooDeep == true)
        #expect(Transcoded(String(repeating: "[", count: 100_000)).jsonFault?.isTooDeep == true)
    }

    @Test("what is wrong with an event is told though its payload nests as deep as it may")
    func faultBesideDepth() throws {
        let levels = EventTranscoder.maxDepth
        let json = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        let push = #""push":{"raw":{"json":\#(json)}}"#
        for text in [#"{"foo":1,\#(push),"eventId":"e"}"#, #"{\#(push),"foo":1,"eventId":"e"}"#] {
            let found = Transcoded(text)
            let fault = try #require(found.fault, "\(String(describing: found.jsonFault))")
            #expect(fault.field == "foo" && fault.eventID == "e")
            #expect(found.offset == text.utf8.count)
        }
    }

    @Test(
        "the tag and the length stand before an event, and nothing is written of one that is none")
    func list() throws {
        let text = Array(#"[{"eventId":"a"},{"foo":1},{"eventId":"b"}]"#.utf8)
        try text.withUnsafeBytes { text in
            var transcoder = EventTranscoder(text, by: try EventTable.own())
            #expect(transcoder.cursor.start() == UInt8(ascii: "["))
            try transcoder.cursor.enter(depth: 1)
            var faults = 0
            var isFirst = true
            while try transcoder.cursor.hasElement(isFirst: isFirst) {
                isFirst = false
                if try transcoder.append(as: 10) != nil { faults += 1 }
            }
            try transcoder.cursor.finish()
            #expect(faults == 1)
            let request = try Sightline_V1_RecordEventsRequest(serializedBytes: transcoder.bytes)
            #expect(request.events.map(\.eventID) == ["a", "b"])
        }
    }
}
