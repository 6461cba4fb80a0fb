// The reader of JSON: what it takes, what it says of what it does not take, and what it costs.

internal import Foundation
@testable internal import JSON
internal import Synchronization
internal import Testing
@testable internal import WireFormat

struct JSONReaderTests {
    @Test(
        "What is read before is read the same: escapes, whole numbers, a mark, a name that repeats",
        arguments: [
            ("1.0", .integer(1)), ("1e2", .integer(100)), ("-0.0", .integer(0)),
            ("1.5", .number(1.5)), ("1e300", .number(1e300)),
            ("\"\\u00e9\\n\\/ \\ud83d\\ude00\"", .string("é\n/ 😀")),
            ("{\"a\":1,\"a\":2}", .object(["a": .integer(1)])),
            ("\u{FEFF}[]", .array([])), (" \t\r\n[ ] ", .array([])),
        ] as [(String, JSONValue)])
    func taken(json: String, value: JSONValue) throws {
        #expect(try JSONValue(payload: Array(json.utf8)) == value)
    }

    @Test(
        "What is no JSON is refused with the place and the rule",
        arguments: [
            ("", "at the end JSON has a value"), ("{\"a\":", "at the end JSON has a value"),
            ("[1,]", "at byte 3 JSON has a value"), ("[1 2]", "at byte 3 JSON has a comma"),
            ("{a:1}", "at byte 1 JSON has a name in quotes"), ("{\"a\" 1}", "at byte 5"),
            ("nul", "at the end JSON has null"), ("1.", "a digit"), ("-", "a digit"),
            ("1 1", "at byte 2 JSON has the end"), ("\"\\x\"", "at byte 2"),
            ("\"\\ud83d\\u12g4\"", "hexadecimal"),
            ("\"\t\"", "at byte 1 JSON has control characters"),
            ("\"a", "a string's end"), ("1e999", "64-bit"),
        ])
    func refused(json: String, reason: String) {
        let fault = #expect(throws: JSONFault.self) { try JSONValue(payload: Array(json.utf8)) }
        #expect(fault?.reason.contains(reason) == true, "\(String(describing: fault))")
    }

    @Test(
        "A name that occurs again with another value is named by its path; the first value counts",
        arguments: [
            (#"{"promo":1,"promo":2}"#, ["promo"], #"{"promo":1}"#),
            (#"{"a":{"b":[{"c":1,"\u0063":null}]}}"#, ["a.b.c"], #"{"a":{"b":[{"c":1}]}}"#),
            (#"{"a":1,"a":1}"#, [], #"{"a":1}"#), (#"{"a":{"b":1},"b":2}"#, [], nil),
            ("{\"\u{e9}\":1,\"e\u{301}\":2}", [], nil),
        ] as [(String, [String], String?)])
    func repetitions(json: String, paths: [String], value: String?) throws {
        let whole = try JSONReader.whole(payload: Array(json.utf8))
        #expect(whole.repetitions.map { $0.joined(separator: ".") } == paths)
        if let value { #expect(whole.value.text == value) }
    }

    @Test(
        "Half of a surrogate pair is read as U+FFFD with its place, and refused in events and tokens",
        arguments: [
            (#""\ud83d""#, "\u{fffd}", 1), (#""a\ud83d""#, "a\u{fffd}", 2),
            (#""\ude00!""#, "\u{fffd}!", 1), (#""\ud83d\u0041""#, "\u{fffd}A", 1),
            (#""\ud83d\n""#, "\u{fffd}\n", 1), (#""\ud83d\ud83d\ude00""#, "\u{fffd}😀", 1),
            (#""\ud83d\ude00\ude00""#, "😀\u{fffd}", 13),
            (#""\ud83dx\ude00""#, "\u{fffd}x\u{fffd}", 1),
        ])
    func unpairedSurrogates(json: String, text: String, place: Int) throws {
        let whole = try JSONReader.whole(payload: Array(json.utf8))
        #expect(whole.value == .string(text))
        #expect(whole.unpairedSurrogate == place)
        let kept = try JSONReader.kept(
            of: Array(#"{"a":\#(json)}"#.utf8), JSONShape(["a": .value]), .payload)
        #expect(kept.value == .object(["a": .string(text)]))
        #expect(kept.unpairedSurrogate == place + 5)
        #expect(throws: JSONFault.self) { try JSONValue(event: Array(json.utf8)) }
        #expect(throws: JSONFault.self) { try JSONValue(token: Array(json.utf8)) }
    }

    @Test("Surrogates in pairs have no place")
    func pairedSurrogates() throws {
        let whole = try JSONReader.whole(payload: Array(#"{"\ud83d\ude00":"\u00e9 😀"}"#.utf8))
        #expect(whole.unpairedSurrogate == nil)
    }

    @Test("A number is read at the limit of its length, and refused one beyond")
    func longNumber() throws {
        let digits = { String(repeating: "1", count: $0) }
        #expect(try JSONValue(payload: Array(("0." + digits(1022)).utf8)) == .number(1.0 / 9))
        #expect(throws: JSONFault.self) {
            try JSONValue(payload: Array(("0." + digits(1023)).utf8))
        }
    }

    @Test(
        "The size in compact JSON is without spaces and needless escapes, whatever the text has",
        arguments: [
            ("{}", [], "{}"), (" [ ] ", [], "[]"), ("\u{FEFF}[ 1 , 2 ]", [], "[1,2]"),
            (#"{ "a" : { "b" : [ true , null ] } }"#, [], #"{"a":{"b":[true,null]}}"#),
            // Members and digits stay as they are.
            ("[1.0, 19.90 ,1e2, -0 , false]", [], "[1.0,19.90,1e2,-0,false]"),
            (#"{"a": 1, "a": 2}"#, [], #"{"a":1,"a":2}"#),
            (#""\u0041\u00e9\u20ac\ud83d\ude00""#, [], #""Aé€😀""#),
            // Half of a pair is U+FFFD.
            (#""\ud83d""#, [], "\"\u{fffd}\""), (#""\ude00\ud83d!""#, [], "\"\u{fffd}\u{fffd}!\""),
            (#""\ud83d\u0041\ud83d\ud83d\ude00""#, [], "\"\u{fffd}A\u{fffd}😀\""),
            (#""\u0022\u005c\u000a\u0001\/\b\f\n\r\t\"\\""#, [], #""\"\\\n\u0001/\b\f\n\r\t\"\\""#),
            (#"{ "\u0061" : 1 }"#, [], #"{"a":1}"#),
            (#"{"x":[1],"a":{"b": [ 1 ]},"a":5}"#, ["a"], #"{"b":[1]}"#),
            (#"{"x":[1],"a":{"\u0062": [ 1 ]}}"#, ["a", "b"], "[1]"),
        ] as [(String, [String], String)])
    func compactSize(json: String, path: [String], compact: String) throws {
        let count = try JSONReader.compactByteCount(of: Array(json.utf8), at: path, .payload)
        #expect(count == compact.utf8.count)
    }

    @Test(
        "What is not there has no size", arguments: [["b"], ["a", "b"], ["a", "0"], ["c", "d"]])
    func compactSizeOfNothing(path: [String]) throws {
        let json = Array(#"{"a":[1],"c":"d"}"#.utf8)
        #expect(try JSONReader.compactByteCount(of: json, at: path, .payload) == nil)
    }

    /// Bytes that count how often one of them is looked at.
    private struct CountedBytes: RandomAccessCollection {
        final class Looks: Sendable {
            let count = Atomic(0)
        }

        let bytes: [UInt8]
        let looks = Looks()
        var startIndex: Int { self.bytes.startIndex }
        var endIndex: Int { self.bytes.endIndex }

        subscript(position: Int) -> UInt8 {
            self.looks.count.wrappingAdd(1, ordering: .relaxed)
            return self.bytes[position]
        }
    }

    @Test(
        "No byte is looked at more than a few times, however the document nests and escapes",
        arguments: [
            "[0]", "{\"a\":{}}", "[[[[[[[[]]]]]]]]", "\"\\u00e9\\n\"", "\"xxxxxxxxxxxxxxxx\"",
            "[1.5e3,-7,true,false,null]", "{\"a\":1,\"b\":[\"x\",{\"c\":\"\\\\\"}]}", " [ ] ",
        ])
    func steps(_ part: String) throws {
        for parts in [10, 1000] {
            let json = "[" + repeatElement(part, count: parts).joined(separator: ",") + "]"
            let bytes = CountedBytes(bytes: Array(json.utf8))
            _ = try JSONReader.value(of: bytes, .payload)
            let looks = bytes.looks.count.load(ordering: .relaxed)
            #expect(looks <= 12 * bytes.count, "\(looks) looks at \(bytes.count) bytes")
        }
    }
}
