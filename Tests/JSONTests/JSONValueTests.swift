// JSON values: kinds that clients tell apart stay apart, and text comes back as it went in.

internal import Foundation
internal import JSON
internal import TestSupport
internal import Testing

struct JSONValueTests {
    @Test(
        "Booleans, integers, other numbers, strings and null stay apart",
        arguments: [
            ("true", .bool(true)), ("false", .bool(false)), ("1", .integer(1)),
            ("0", .integer(0)), ("-7", .integer(-7)), ("1.5", .number(1.5)),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .number(9_223_372_036_854_775_808)),
            ("\"1\"", .string("1")), ("\"true\"", .string("true")), ("null", .null),
            ("\"\"", .string("")), ("[]", .array([])), ("{}", .object([:])),
            ("[null,[true]]", .array([.null, .array([.bool(true)])])),
            ("{\"a\":{\"b\":null}}", .object(["a": .object(["b": .null])])),
        ] as [(String, JSONValue)])
    func kindsStayApart(json: String, value: JSONValue) throws {
        #expect(try Fixtures.json(text: json) == value)
    }

    @Test(
        "Text is compact JSON that gives the same value again",
        arguments: [
            ("{ \"b\" : 1, \"a\" : [ true , null ] }", "{\"a\":[true,null],\"b\":1}"),
            ("\"say \\\"hi\\\" \\\\ \\n\\t\\r\"", "\"say \\\"hi\\\" \\\\ \\n\\t\\r\""),
            ("\"\\u0000\\u001b\\u007f\\u009b\"", "\"\\u0000\\u001b\\u007f\\u009b\""),
            ("\"é 日本 🎉 /\"", "\"é 日本 🎉 /\""),
            ("-0.25", "-0.25"), ("1e300", "1e+300"), ("5e-324", "5e-324"),
            ("{\"k 1\":{}}", "{\"k 1\":{}}"),
        ])
    func textComesBack(json: String, text: String) throws {
        let value = try Fixtures.json(text: json)
        #expect(value.text == text)
        #expect(try Fixtures.json(text: value.text) == value)
    }

    @Test("Keys are in the order of their bytes in every run")
    func keysAreSorted() {
        var members = JSONObject()
        for key in ["b", "a", "é", "Z", "", "_mId", "aa"] { members[key] = .null }
        #expect(members.inKeyOrder.map(\.key) == ["", "Z", "_mId", "a", "aa", "b", "é"])
    }

    @Test(
        "D32: two keys that Unicode takes for equal are two, each with its value",
        arguments: [
            ("caf\u{e9}", "cafe\u{301}"), ("K", "\u{212a}"), ("\u{c5}", "\u{212b}"),
            ("\u{ac00}", "\u{1100}\u{1161}"),
        ])
    func keysAreBytes(left: String, right: String) throws {
        let text = #"{"\#(left)":1,"\#(right)":2}"#
        let value = try Fixtures.json(text: text)
        let members = try #require(value.objectValue)
        #expect(members[left] == .integer(1) && members[right] == .integer(2))
        #expect(members.inKeyOrder.count == 2)
        #expect(try Fixtures.json(text: value.text) == value)
        #expect(JSONValue.string(left) != .string(right))
        #expect(value != .object([left: .integer(2), right: .integer(1)]))
    }

    @Test("A number that is no JSON is written as null", arguments: [Double.nan, .infinity])
    func numbersOutsideJSON(number: Double) {
        #expect(JSONValue.number(number).text == "null")
    }

    @Test("Nesting is taken at the limit and refused one beyond")
    func depthIsBounded() throws {
        let limit = JSONValue.maximumDepth
        let nested = { (levels: Int) in
            String(repeating: "[", count: levels) + "1" + String(repeating: "]", count: levels)
        }
        #expect(try Fixtures.json(text: nested(limit)).text == nested(limit))
        for levels in [limit + 1, 500, 100_000] {
            #expect(throws: JSONFault.self) { try Fixtures.json(text: nested(levels)) }
        }
    }

    @Test("Text of a value that was built too deep ends in null")
    func textIsBounded() {
        var value = JSONValue.integer(1)
        let limit = JSONValue.maximumDepth
        for _ in 0...limit { value = .array([value]) }
        #expect(value.text.hasSuffix("[null" + String(repeating: "]", count: limit + 1)))
    }

    @Test(
        "What is no JSON, or a number beyond all bounds, is refused",
        arguments: ["", "{", "{\"a\":}", "nul", "1e999", "'a'"])
    func nonsenseIsRefused(json: String) {
        #expect(throws: JSONFault.self) { try Fixtures.json(text: json) }
    }

    @Test("Excerpts have at most 64 scalars, whatever the text is")
    func excerptsAreBounded() {
        let marks = "e" + String(repeating: "\u{301}", count: 10_000)
        for text in [marks, String(repeating: "x", count: 65)] {
            let excerpt = JSONValue.string(text).excerpt
            #expect(excerpt.unicodeScalars.count == JSONValue.maximumExcerptLength)
            #expect(excerpt.hasSuffix("…"))
        }
        #expect(JSONValue.shortened(String(repeating: "x", count: 64)).count == 64)
        #expect(!JSONValue.shortened(String(repeating: "x", count: 64)).contains("…"))
    }

    @Test("Every kind has its name for messages")
    func kindsHaveNames() {
        #expect(JSONValue.integer(5).described == "an integer: 5")
        #expect(JSONValue.string("5").described == "a string: \"5\"")
        #expect(JSONValue.null.described == "null")
    }
}
