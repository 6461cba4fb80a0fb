// Lines cut at any byte, and what is told of bad ones.
internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import sightline

struct NDJSONReaderTests {
    private func read(_ text: String, pieceByteCount: Int = .max) -> [NDJSONLine] {
        guard var reader = try? NDJSONReader() else {
            Issue.record("the descriptors are damaged")
            return []
        }
        var lines: [NDJSONLine] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let piece = rest.prefix(pieceByteCount)
            lines += reader.feed(piece)
            rest = rest.dropFirst(piece.count)
        }
        if let last = reader.finish() { lines.append(last) }
        return lines
    }

    private func ids(_ lines: [NDJSONLine]) -> [String] {
        lines.map { line in
            switch line {
            case .event(let event, let number): "\(number):\(event.eventID)"
            case .bad(let bad): "\(bad.line):bad"
            }
        }
    }

    private func bad(_ text: String) throws -> BadLine {
        let lines = self.read(text)
        guard case .bad(let bad) = try #require(lines.first) else {
            Issue.record("the line is good")
            return BadLine(line: 0, column: nil, reason: "")
        }
        return bad
    }

    @Test("pieces may end at any byte", arguments: 1...40)
    func pieces(byteCount: Int) {
        let text = "{\"eventId\":\"é1\"}\r\n\n  \n{\"eventId\":\"e2\"}\nx\n{\"eventId\":\"e3\"}"
        let lines = self.read(text, pieceByteCount: byteCount)
        #expect(self.ids(lines) == ["1:é1", "4:e2", "5:bad", "6:e3"])
    }

    @Test("a line may have maxLineByteCount bytes, and not one more")
    func longLines() {
        let event = "{\"eventId\":\"e\"}"
        let blanks = NDJSONReader.maxLineByteCount - event.utf8.count
        let fitting = event + String(repeating: " ", count: blanks)
        let lines = self.read(fitting + "\n" + fitting + " \n" + event, pieceByteCount: 65_536)
        #expect(self.ids(lines) == ["1:e", "2:bad", "3:e"])
    }

    @Test(
        "no JSON: the column of the first wrong character",
        arguments: [
            ("{\"eventId\":\"b\",}", 16), ("{\"é\" 1}", 6), ("nul", 4), ("{} x", 4), ("[1 2]", 4),
            ("{\"a\":01}", 7), ("{\"a\":\"\\x\"}", 8), ("{\"a\":1", 7), ("{\"a\":-}", 7),
            ("{\"a\":1e}", 8), ("tru}", 4),
        ])
    func columns(text: String, column: Int) throws {
        #expect(try self.bad(text).column == column)
    }

    @Test("a byte order mark is no part of the first line, wherever pieces end", arguments: 1...5)
    func mark(byteCount: Int) throws {
        let text = String(decoding: try Fixtures.data("reported/c09-bom.ndjson"), as: UTF8.self)
        #expect(text.utf8.starts(with: [0xef, 0xbb, 0xbf]))
        #expect(
            self.ids(self.read(text, pieceByteCount: byteCount)) == ["1:e1", "2:e2", "3:e3"])
        #expect(self.read("\u{FEFF}", pieceByteCount: byteCount) == [])
        // It marks the beginning of a file, and nothing else.
        let late = self.read("{}\n\u{FEFF}{}", pieceByteCount: byteCount)
        #expect(self.ids(late) == ["1:", "2:bad"])
    }

    @Test("no JSON: what is there, and what JSON has in its place")
    func syntax() throws {
        let bad = try self.bad("{\"eventId\":\"b\",}")
        #expect(bad.reason.contains("a name in quotes") && bad.reason.contains("here is `}`"))
        #expect(try self.bad("{\"a\":1").reason.contains("a comma or the object's end"))
        var reader = try NDJSONReader()
        let line = reader.feed(Array("{\"a\":\"".utf8) + [0xff] + Array("\"}\n".utf8)).first
        guard case .bad(let invalid) = line else {
            Issue.record("the line is good")
            return
        }
        #expect(invalid.reason.contains("UTF-8"))
    }

    @Test(
        "a payload in a line is told to be one, with the platform of its shape",
        arguments: [
            (#"{"_dId":"56c4","_mId":"h138a","title":"a"}"#, "android"),
            (#"{"_mId":"h138a"}"#, "android"), (#"{"data":{"_dId":"56c4"}}"#, "android"),
            (#"{"aps":{},"_dId":"56c4"}"#, "ios"),
        ])
    func payload(line: String, platform: String) throws {
        let reason = try self.bad(line).reason
        #expect(reason.contains("a payload of \(platform)"), "\(reason)")
        #expect(reason.contains("--platform \(platform)"), "\(reason)")
    }

    /// A line, the field that is wrong and its column, what is there, and what is wanted.
    private static let fields: [(String, String, Int?, String, String)] = [
        (#"{"eventId":"c","foo":1}"#, "`foo`", 16, "unknown: 1", "eventId, occurTime"),
        (#"{"push":{"raw":{"Json":""}}}"#, "`push.raw.Json`", 17, "unknown", "a RawPayload: json"),
        (#"{"occurTime":"yesterday"}"#, "`occurTime`", 2, "\"yesterday\"", "a time such as"),
        (#"{"occurTime":{"seconds":1}}"#, "`occurTime`", 2, "an object", "a time such as"),
        (#"{"push":{"kind":"X"}}"#, "`push.kind`", 10, "\"X\"", "PUSH_INTERACTION_KIND_OPENED"),
        (#"{"push":{"kind":true}}"#, "`push.kind`", 10, "true", "PUSH_INTERACTION_KIND_OPENED"),
        (#"{"push":5}"#, "`push`", 2, "an integer: 5", "an object, a PushInteraction"),
        (#"{"eventId":5}"#, "`eventId`", 2, "an integer: 5", "a string"),
        (#"{"event_id":["a"]}"#, "`event_id`", 2, "an array", "a string"),
        (
            #"{"inApp":{"testMessage":"true"}}"#, "`inApp.testMessage`", 11, "\"true\"",
            "true or false"
        ),
        (
            #"{"push":{"apns":{"aps":{"badge":"two"}}}}"#, "`push.apns.aps.badge`", 25, "\"two\"",
            "an integer of 32 bits"
        ),
        (
            #"{"push":{"apns":{"aps":{"badge":3000000000}}}}"#, "`push.apns.aps.badge`", 25,
            "3000000000", "an integer of 32 bits"
        ),
        (
            #"{"push":{"apns":{"customFields":{"orderId":18446744073709551615}}}}"#,
            "`push.apns.customFields.orderId`", 34, "a number", "a string"
        ),
        (
            #"{"push":{"apns":{"customFields":["a"]}}}"#, "`push.apns.customFields`", 18,
            "an array", "an object"
        ),
        (#"{"push":{},"trackAction":{}}"#, "`trackAction`", 12, "beside `push`", "alone"),
        ("[]", "it", nil, "an array", "an object, a TrackingEvent"),
        ("null", "it", nil, "null", "an object, a TrackingEvent"),
    ]

    @Test("JSON that is no event: the field, what is there, and what is wanted", arguments: fields)
    func fault(line: String, field: String, column: Int?, seen: String, wanted: String) throws {
        let bad = try self.bad(line)
        #expect(bad.column == column)
        let parts = bad.reason.components(separatedBy: ", and has to be ")
        try #require(parts.count == 2, "\(bad.reason)")
        #expect(parts[0].contains("\(field) is ") && parts[0].contains(seen), "\(bad.reason)")
        #expect(parts[1].contains(wanted), "\(bad.reason)")
    }

    @Test("a payload as text, where bytes are wanted: the field is named, and both forms")
    func payloadThatIsNoBase64() throws {
        let text = String(
            decoding: try Fixtures.data("reported/c36-plain.ndjson"), as: UTF8.self)
        let bad = try self.bad(text)
        #expect(bad.reason.contains("`push.raw.json` is a string: "), "\(bad.reason)")
        #expect(bad.reason.contains("the payload itself") && bad.reason.contains("in base64"))
        #expect(
            bad.column
                == text.range(of: "\"json\"").map {
                    text.distance(from: text.startIndex, to: $0.lowerBound) + 1
                })
    }

    @Test("a payload as an object is sent as it stands in the line")
    func payloadAsObject() throws {
        let text = String(
            decoding: try Fixtures.data("reported/c36-object.ndjson"), as: UTF8.self)
        guard case .event(let event, 1) = try #require(self.read(text).first) else {
            Issue.record("the line is bad")
            return
        }
        let payload = String(decoding: event.push.raw.json, as: UTF8.self)
        #expect(payload.hasPrefix("{") && text.contains("\"json\": \(payload)"), "\(payload)")
    }

    @Test("what another field of the line has keeps no sound field from being read")
    func soundFields() throws {
        let line =
            #"{"platform":1,"consent":"CONSENT_OPTED_IN","occurTime":null,"appId":null,"#
            + #""push":{"kind":3,"apns":{"_dId":"56c4","aps":{"badge":"3","content-available":1}}}}"#
        guard case .event(let event, _) = self.read(line).first else {
            Issue.record("the line is bad")
            return
        }
        #expect(event.push.apns.aps.badge == 3)
        // With a fault behind them, that fault is the one that is told.
        let bad = try self.bad(String(line.dropLast()) + #","zzz":1}"#)
        #expect(bad.reason.contains("`zzz`"), "\(bad.reason)")
    }

    @Test(
        "D32: keys of a map that Unicode takes for equal are sent as they came, each with its value"
    )
    func keysAlike() throws {
        let keys = ["caf\u{e9}", "cafe\u{301}", "K", "\u{212a}"]
        let members = keys.map { #""\#($0)":"of \#($0)""# }.joined(separator: ",")
        let apns = #"{"_mId":"h1","customFields":{\#(members)},"_dId":"a"}"#
        let push = #"{"kind":"PUSH_INTERACTION_KIND_OPENED","apns":\#(apns)}"#
        let text = #"{"eventId":"e1","push":\#(push)}"#
        guard case .event(let event, 1) = try #require(self.read(text).first) else {
            Issue.record("the line is bad")
            return
        }
        let bytes: [UInt8] = try event.serializedBytes()
        for key in keys {
            let (name, value) = (Array(key.utf8), Array("of \(key)".utf8))
            var entry: [UInt8] = [0x0a, UInt8(name.count)]
            entry += name
            entry += [0x12, UInt8(value.count)]
            entry += value
            #expect(bytes.firstRange(of: entry) != nil, "\(key)")
        }
        #expect(event.eventID == "e1")
        // Whoever reads the bytes has the rest too.
        let read = try Sightline_V1_TrackingEvent(serializedBytes: bytes)
        #expect(read.push.kind == .opened && read.push.apns.deliveryID == "a")
        #expect(read.push.apns.messageID == "h1" && read.eventID == "e1")
    }

    @Test("a key that is twice in a map, and one without a value, are named")
    func repeatedKeys() throws {
        let line = { (members: String) in #"{"inApp":{"appData":{\#(members)}}}"# }
        let twice = try self.bad(line(#""promo":"1","promo":"2""#)).reason
        #expect(twice.contains("inApp.appData.promo") && twice.contains("twice"), "\(twice)")
        #expect(try self.bad(line(#""promo":null"#)).reason.contains("promo` is null"))
    }

    @Test("deep nesting is bad, and ends no process")
    func depth() throws {
        let text = String(repeating: "[", count: 100_000)
        #expect(try self.bad(text).line == 1)
    }
}
