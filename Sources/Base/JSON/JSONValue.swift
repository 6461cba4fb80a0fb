// A JSON document as a value: used to judge payloads and to read tokens.
internal import WireFormat

/// A JSON value. Booleans, integers and other numbers are distinct, since clients distinguish them
/// too. A number outside `Int64` becomes a `number`, with the precision of a `Double`; one outside
/// `Double` is refused, and so is nesting deeper than `maximumDepth`.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// The maximum nesting of a value. A push needs five levels; each level costs stack.
    package static let maximumDepth = 32

    /// The maximum bytes of a payload's JSON; a push has at most 4096.
    package static let maximumByteCount = 64 * 1024
}

extension JSONValue: Equatable {
    /// Whether both are of one kind and equal; strings by their bytes.
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.equals(right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        case (.null, _), (.bool, _), (.integer, _), (.number, _), (.string, _), (.array, _),
            (.object, _):
            false
        }
    }
}

extension JSONValue {
    /// Parses a payload's text. A byte order mark before it is ignored (RFC 8259, 8.1).
    ///
    /// - Throws: the first fault, with its offset.
    package init(payload bytes: [UInt8]) throws(JSONFault) {
        self = try JSONReader.value(of: Self.withoutMark(bytes), .payload)
    }

    /// The bytes without a byte order mark before them.
    static func withoutMark<Text: RandomAccessCollection<UInt8>>(
        _ bytes: Text
    ) -> Text.SubSequence {
        bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
    }

    /// Parses an event's text.
    ///
    /// - Throws: the first fault, with its offset.
    package init(event bytes: [UInt8]) throws(JSONFault) {
        self = try JSONReader.value(of: bytes, .event)
    }

    /// Parses a part of a token, in which no name may occur twice.
    ///
    /// - Throws: the first fault, with its offset.
    package init(token bytes: [UInt8]) throws(JSONFault) {
        self = try JSONReader.value(of: bytes, .token)
    }
}

extension JSONValue {
    /// The string; nil for other values.
    package var stringValue: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The integer; nil for other values.
    package var integerValue: Int64? {
        guard case .integer(let integer) = self else { return nil }
        return integer
    }

    /// The integer, if it fits into 32 bits; nil for other values.
    package var int32Value: Int32? { self.integerValue.flatMap { Int32(exactly: $0) } }

    /// A badge's number: an integer, or a string of decimal digits, since the vendor's samples have
    /// both.
    package var badge: Int32? {
        guard let digits = self.stringValue else { return self.int32Value }
        let isDecimal = digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 }
        return isDecimal ? Int32(digits) : nil
    }

    /// The members of an object; nil for other values.
    package var objectValue: JSONObject? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The value's kind with its article, such as "a string", for messages to people.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer: "an integer"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
