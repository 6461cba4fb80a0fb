internal import WireFormat

/// The messages that a ProtoJSONWriter knows, as flat tables: all texts stand in one array, and all
/// fields in another, where a field's number leads to it.
package struct ProtoJSONSchema: Sendable {
    /// The highest number of a field or an enum's value: tables are indexed by them.
    private static let maxNumber = 1023

    /// Bytes in `texts`.
    struct Text {
        let start: Int
        let count: Int

        static let none = Text(start: 0, count: 0)
    }

    /// A part of `fields` or `values`; the number 0 stands at its start.
    struct Part {
        let start: Int
        let count: Int
    }

    /// A field, laid out for the writer.
    struct Field {
        let kind: Kind
        let hasPresence: Bool
        /// The wire type that the kind has.
        let wireType: UInt32
        /// The bit of its oneof; 0 if it is no member of one.
        let oneof: UInt64
        /// The comma, the name and the colon, and a string's opening quotation mark.
        let lead: Text
        /// The index of a message, or of an enum.
        let target: Int

        /// What stands where a message has no field of a number.
        static let unknown = Field(
            kind: .unknown, hasPresence: false, wireType: 0, oneof: 0, lead: .none, target: 0)
    }

    /// The kinds of fields, without what belongs to them.
    enum Kind {
        case unknown
        case string
        case bool
        case int32
        case enumeration
        case message
        case timestamp
        case stringMap
        case bytes
        case other
    }

    /// Where each message's fields are.
    private(set) var messages: [Part] = []
    private(set) var fields: [Field] = []
    /// Where each enum's values are.
    private(set) var enumerations: [Part] = []
    /// The quoted names of enums' values; empty where a number has no name.
    private(set) var values: [Text] = []
    /// All texts, one after the other.
    private(set) var texts: [UInt8] = []

    /// Lays out messages; their indices are those that fields refer to.
    package init(_ messages: [[ProtoJSONField]]) {
        for message in messages { self.add(message) }
        precondition(
            self.fields.allSatisfy { $0.kind != .message || $0.target < messages.count },
            "a field refers to a message that the schema does not have")
    }

    private mutating func add(_ message: [ProtoJSONField]) {
        let count = (message.map(\.number).max() ?? 0) + 1
        let start = self.fields.count
        self.messages.append(Part(start: start, count: count))
        self.fields += [Field](repeating: .unknown, count: count)
        for field in message { self.fields[start + field.number] = self.field(field) }
    }

    private mutating func field(_ field: ProtoJSONField) -> Field {
        precondition(
            (1...Self.maxNumber).contains(field.number) && (field.oneof ?? 0) < UInt64.bitWidth,
            "\(field.name) has a number for which the schema has no room")
        var (kind, target) = (Kind.other, 0)
        switch field.value {
        case .string: kind = .string
        case .bool: kind = .bool
        case .int32: kind = .int32
        case .timestamp: kind = .timestamp
        case .stringMap: kind = .stringMap
        case .bytes: kind = .bytes
        case .other: kind = .other
        case .message(let index): (kind, target) = (.message, index)
        case .enumeration(let names):
            guard let index = self.add(names) else { break }
            (kind, target) = (.enumeration, index)
        }
        // Escaped names are too rare to be worth anything here.
        if !Self.isPlain(field.name) { kind = .other }
        let isNumber = [.bool, .int32, .enumeration].contains(kind)
        return Field(
            kind: kind, hasPresence: field.hasPresence,
            wireType: isNumber ? WireType.varint : WireType.lengthDelimited,
            oneof: field.oneof.map { 1 << UInt64($0) } ?? 0,
            lead: self.text(",\"\(field.name)\":" + (kind == .string ? "\"" : "")),
            target: target)
    }

    /// Adds an enum; nil if its numbers do not fit into a table.
    private mutating func add(_ names: [Int32: String]) -> Int? {
        guard let last = names.keys.max(), let first = names.keys.min(), first >= 0,
            last <= Self.maxNumber, names.values.allSatisfy(Self.isPlain)
        else { return nil }
        self.enumerations.append(Part(start: self.values.count, count: Int(last) + 1))
        for number in 0...last {
            self.values.append(names[number].map { self.text("\"\($0)\"") } ?? .none)
        }
        return self.enumerations.count - 1
    }

    private mutating func text(_ text: String) -> Text {
        let start = self.texts.count
        self.texts += text.utf8
        return Text(start: start, count: self.texts.count - start)
    }

    /// Whether a name needs no escape.
    private static func isPlain(_ name: String) -> Bool {
        name.utf8.allSatisfy { byte in
            (0x20..<0x7f).contains(byte) && byte != UInt8(ascii: "\"")
                && byte != UInt8(ascii: "\\")
        }
    }
}
