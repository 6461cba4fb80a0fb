// The forms that credentials come in: names of tenants, base64url, JSON, metadata.
@testable internal import Credentials
internal import GRPCCore
internal import JSON
internal import TestSupport
internal import Testing

struct CredentialFormTests {
    @Test(
        "a tenant's name has 1 to 64 bytes of a-z, 0-9, dot, underline and hyphen",
        arguments: [
            ("a", true), ("default", true), ("a.b_c-9", true),
            (String(repeating: "t", count: 64), true), (String(repeating: "t", count: 65), false),
            ("", false), ("A", false), ("a b", false), ("a/b", false), ("ä", false), ("a\n", false),
            ("a\u{0}", false),
        ])
    func tenant(_ name: String, _ isName: Bool) {
        #expect((Tenant(name) != nil) == isName)
    }

    @Test("base64url goes there and back", arguments: 0...40)
    func base64(_ count: Int) {
        var chance = Dice(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &chance) }
        let text = Base64URL.encode(bytes)
        #expect(Base64URL.decode(text.utf8) == bytes)
        #expect(text.utf8.count == (count * 8 + 5) / 6)
    }

    @Test(
        "base64url has one spelling for each value",
        arguments: [
            ("", []), ("AA", [0]), ("-_8", [0xfb, 0xff]), ("AB", nil), ("AAB", nil), ("A", nil),
            ("AAAAA", nil), ("AA==", nil), ("+/8", nil), ("AA A", nil), ("AA\n", nil), ("ÄA", nil),
        ] as [(String, [UInt8]?)])
    func spelling(_ text: String, _ bytes: [UInt8]?) {
        #expect(Base64URL.decode(text.utf8) == bytes)
    }

    @Test(
        "JSON is read as RFC 8259 has it",
        arguments: [
            ("null", .null), (" true ", .bool(true)), ("-0", .integer(0)), ("7", .integer(7)),
            ("9223372036854775807", .integer(.max)),
            ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("1.5e1", .integer(15)),
            ("\"\\u00e9\\n\\/\"", .string("é\n/")), ("\"\\ud83d\\ude00\"", .string("😀")),
            ("[]", .array([])), ("[1,[2]]", .array([.integer(1), .array([.integer(2)])])),
            ("{}", .object([:])),
            ("{\"a\":{\"a\":1}}", .object(["a": .object(["a": .integer(1)])])),
        ] as [(String, JSONValue)])
    func json(_ text: String, _ value: JSONValue) throws {
        #expect(try JSONValue(token: Array(text.utf8)) == value)
    }

    @Test(
        "what is no JSON, or can be read two ways, is refused",
        arguments: [
            "", " ", "nul", "tru", "01", "+1", "1.", ".5", "1e", "-", "0x1", "NaN", "Infinity",
            "1e999", "'a'", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\ud83d\"", "\"\\ude00\"",
            "\"\\ud83d\\u0041\"", "\"\t\"", "[1,]", "[,1]", "[1 2]", "[", "{", "{\"a\"}",
            "{\"a\":1,}", "{a:1}", "{\"a\":1,\"a\":1}", "{\"a\":1,\"\\u0061\":2}",
            "{\"b\":{\"a\":1,\"a\":2}}", "1 1", "//", "1//", "\u{FEFF}1",
            String(repeating: "[", count: 9) + String(repeating: "]", count: 9),
            String(repeating: "[", count: 100_000), String(repeating: "1", count: 33),
        ])
    func notJSON(_ text: String) {
        #expect(throws: JSONFault.self) { try JSONValue(token: Array(text.utf8)) }
    }

    @Test("bytes that are no UTF-8 are no JSON")
    func notText() {
        #expect(throws: JSONFault.self) {
            try JSONValue(token: [0x22, 0xc3, 0x28, 0x22])
        }
    }

    /// Metadata, and what they hold.
    struct Row: Sendable {
        let metadata: Metadata
        let holds: String
    }

    private static let key = "slk_0123456789abcdef_" + String(repeating: "A", count: 43)

    @Test(
        "metadata hold one credential, or are refused",
        arguments: [
            Row(metadata: [:], holds: "nothing"),
            Row(metadata: ["authorization": "Bearer \(key)"], holds: "key"),
            Row(metadata: ["authorization": "bearer \(key)"], holds: "key"),
            Row(metadata: ["authorization": "BEARER   \(key)"], holds: "key"),
            Row(metadata: ["x-api-key": "\(key)"], holds: "key"),
            Row(metadata: ["authorization": "Bearer e30.e30.e30"], holds: "token e30.e30.e30"),
            Row(metadata: ["authorization": "Bearer "], holds: "malformed"),
            Row(metadata: ["authorization": "Bearer"], holds: "malformed"),
            Row(metadata: ["authorization": ""], holds: "malformed"),
            Row(metadata: ["authorization": "Basic dXNlcjpwYXNz"], holds: "malformed"),
            Row(metadata: ["authorization": "\(key)"], holds: "malformed"),
            Row(metadata: ["authorization": "Bearer slk_short"], holds: "malformed"),
            Row(metadata: ["x-api-key": "Bearer \(key)"], holds: "malformed"),
            Row(metadata: ["x-api-key": "e30.e30.e30"], holds: "malformed"),
            Row(
                metadata: ["authorization": "Bearer \(key)", "x-api-key": "\(key)"],
                holds: "ambiguous"),
            Row(
                metadata: ["authorization": "Bearer \(key)", "authorization": "Bearer \(key)"],
                holds: "ambiguous"),
            Row(metadata: ["x-api-key": "\(key)", "x-api-key": ""], holds: "ambiguous"),
        ])
    func metadata(_ row: Row) {
        let holds: String
        do throws(CredentialRefusal) {
            switch try PresentedCredential(row.metadata) {
            case .none: holds = "nothing"
            case .key(let key): holds = key.id == "0123456789abcdef" ? "key" : "another key"
            case .token(let token): holds = "token \(token)"
            }
        } catch {
            holds =
                error == .malformed ? "malformed" : error == .ambiguous ? "ambiguous" : "\(error)"
        }
        #expect(holds == row.holds)
    }
}
