// The keys of an event's maps, as the jsonl, stdout and webhook sinks write them: bytes, of which
// no two are one key.

internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing

struct JSONLinesKeysTests {
    /// Keys that Swift's strings take for equal in twos and threes, each with a value of its own.
    private static let entries = [
        ("caf\u{e9}", "composed"), ("cafe\u{301}", "decomposed"), ("K", "letter"),
        ("\u{212a}", "kelvin"), ("\u{212b}", "angstrom"), ("A\u{30a}", "letter and ring"),
        ("\u{c5}", "letter with ring"), ("\u{ac00}", "syllable"), ("\u{1100}\u{1161}", "letters"),
    ]

    /// The entries as fields of a number.
    private static func map(_ number: UInt64, _ entries: [(String, String)]) -> [UInt8] {
        WireWriter.message { map in
            for (key, value) in entries {
                map.field(
                    number,
                    WireWriter.message {
                        $0.field(1, key)
                        $0.field(2, value)
                    })
            }
        }
    }

    private static func joined(_ parts: [UInt8]...) -> [UInt8] { Array(parts.joined()) }

    /// A field that holds a message of parts that are encoded.
    private static func message(_ number: UInt64, _ parts: [UInt8]...) -> [UInt8] {
        WireWriter.message { $0.field(number, Array(parts.joined())) }
    }

    private static func text(_ number: UInt64, _ text: String) -> [UInt8] {
        WireWriter.message { $0.field(number, text) }
    }

    /// `kind: PUSH_INTERACTION_KIND_RECEIVED`.
    private static let received = WireWriter.message { $0.field(3, varint: 1) }
    private static let apnsIDs = joined(text(2, "56c4"), text(3, "h138a"))
    private static let fcmIDs = joined(text(1, "56c4"), text(2, "h138a"))
    private static let first = Array(entries.prefix(4))
    private static let others = Array(entries.dropFirst(4))

    /// An event with all entries in a map.
    struct Form: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The map's name in JSON.
        let name: String
        let event: [UInt8]

        init(_ description: String, _ event: [UInt8], in name: String = "customFields") {
            self.testDescription = description
            self.name = name
            self.event = event
        }
    }

    private static let forms: [Form] = [
        Form("apns", message(10, message(1, apnsIDs, map(7, entries)), received)),
        Form(
            "aps", message(10, message(1, message(1, map(7, entries)), apnsIDs), received),
            in: "otherFields"),
        Form("fcm", message(10, message(2, message(4, fcmIDs, map(11, entries))), received)),
        Form(
            "an in-app message",
            joined(text(1, "e1"), message(12, text(1, "m"), map(4, entries), message(10))),
            in: "appData"),
        Form(
            "entries on both sides of other fields",
            message(10, message(1, map(7, first), apnsIDs, map(7, others)), received)),
        Form(
            "an event in two parts",
            joined(
                message(10, message(1, apnsIDs, map(7, first)), received),
                message(10, message(1, map(7, others))))),
        Form(
            "fields in another order",
            message(10, received, message(2, message(4, map(11, entries), fcmIDs)))),
        Form(
            "a payload that another one replaces",
            message(
                10, message(1, apnsIDs, map(7, [("caf\u{e9}", "replaced")])),
                message(2, message(4, fcmIDs, map(11, entries))), received)),
    ]

    /// The line of an event.
    private static func line(of event: [UInt8]) throws -> String {
        var lines = try JSONLines()
        let batch = HitBatch(try TestHits.request(bytes: [event]))
        #expect(batch.hitCount == 1)
        let rejected = try lines.encode(batch)
        #expect(rejected == [:])
        return String(decoding: lines.bytes, as: UTF8.self)
    }

    @Test(
        "D29, D32: keys that Unicode takes for equal are written as they came, each with its value",
        arguments: Self.forms)
    func spellings(_ form: Form) throws {
        let members = Self.entries.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
            .map { #""\#($0)":"\#($1)""# }.joined(separator: ",")
        let line = try Self.line(of: form.event)
        let expected = Array(#""\#(form.name)":{\#(members)}"#.utf8)
        #expect(Array(line.utf8).firstRange(of: expected) != nil, "\(line)")
    }

    @Test(
        "of a key that occurs again the last value is written, as protobuf has it",
        arguments: ["promo", "caf\u{e9}"])
    func repeats(_ key: String) throws {
        let map = Self.map(7, [(key, "1"), ("z", "2"), (key, "3")])
        for event in [
            Self.message(10, Self.message(1, Self.apnsIDs, map), Self.received),
            Self.message(10, Self.message(1, map, Self.apnsIDs), Self.received),
        ] {
            let line = try Self.line(of: event)
            #expect(line.contains(#""customFields":{"\#(key)":"3","z":"2"}"#), "\(line)")
        }
    }
}
