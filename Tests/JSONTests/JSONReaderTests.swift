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
            ("\"\\ud83d\"", "surrogates"), ("\"\t\"", "at byte 1 JSON has control characters"),
            ("\"a", "a string's end"), ("1e999", "64-bit"),
        ])
    func refused(json: String, reason: String) {
        let fault = #expect(throws: JSONFault.self) { try JSONValue(payload: Array(json.utf8)) }
        #expect(fault?.reason.contains(reason) == true, "\(String(describing: fault))")
    }

    @Test("A number is read at the limit of its length, and refused one beyond")
    func longNumber() throws {
        let digits = { String(repeating: "1", count: $0) }
        #expect(try JSONValue(payload: Array(("0." + digits(1022)).utf8)) == .number(1.0 / 9))
        #expect(throws: JSONFault.self) {
            try JSONValue(payload: Array(("0." + digits(1023)).utf8))
        }
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
