// A JSON document as a value: what payloads are judged by, and tokens are read by.

/// A JSON value. A boolean, an integer and any other number stay apart, for clients tell them
/// apart too. A number outside `Int64` becomes a `number`, with the precision of a `Double`; one
/// outside `Double` is refused, and so is what nests deeper than `maximumDepth`.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// How many levels a value may nest. A push needs five levels; each one costs stack.
    package static let maximumDepth = 32

    /// How many bytes of a payload's JSON are read; a push has at most 4096.
    package static let maximumByteCount = 64 * 1024
}

extension JSONValue {
    /// Reads a payload's text. A byte order mark before it is passed over (RFC 8259, 8.1).
    ///
    /// - Throws: the first fault, with its place.
    package init(payload bytes: [UInt8]) throws(JSONFault) {
        self = try JSONReader.value(of: Self.withoutMark(bytes), .payload)
    }

    /// The bytes without a byte order mark before them.
    static func withoutMark<Text: RandomAccessCollection<UInt8>>(
        _ bytes: Text
    ) -> Text.SubSequence {
        bytes.starts(with: [0xef, 0xbb, 0xbf]) ? bytes.dropFirst(3) : bytes[...]
    }

    /// Reads an event's text.
    ///
    /// - Throws: the first fault, with its place.
    package init(event bytes: [UInt8]) throws(JSONFault) {
        self = try JSONReader.value(of: bytes, .event)
    }

    /// Reads a part of a token, in which no name may stand twice.
    ///
    /// - Throws: the first fault, with its place.
    package init(token bytes: [UInt8]) throws(JSONFault) {
        self = try JSONReader.value(of: bytes, .token)
    }
}

extension JSONValue {
    /// The string, where the value is one.
    package var stringValue: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The integer, where the value is one.
    package var integerValue: Int64? {
        guard case .integer(let integer) = self else { return nil }
        return integer
    }

    /// The integer, where the value is one and has at most 32 bits.
    package var int32Value: Int32? { self.integerValue.flatMap { Int32(exactly: $0) } }

    /// A badge's number, where the value is an integer, or decimal digits in a string: the vendor's
    /// samples have both.
    package var badge: Int32? {
        guard let digits = self.stringValue else { return self.int32Value }
        let isDecimal = digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 }
        return isDecimal ? Int32(digits) : nil
    }

    /// The members, where the value is an object.
    package var objectValue: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// What kind of value it is, with its article: "a string". For messages to people.
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
