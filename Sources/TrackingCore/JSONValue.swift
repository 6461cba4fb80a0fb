// A JSON document as a value, so that payloads can be judged without Foundation: whoever holds the
// bytes parses them with a decoder of its own, and hands this on to the inspector or the reader.

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

    /// How many levels a value may nest. A push needs five levels; each one costs stack, and
    /// lengthens the path that a decoder builds for every value.
    package static let maximumDepth = 32

    /// How many bytes of JSON its readers give to a decoder; a push has at most 4096. A decoder
    /// tells kinds apart by refusals, each of which costs microseconds and builds a path: 512 KiB
    /// of small arrays deep inside took it 38 seconds.
    package static let maximumByteCount = 64 * 1024
}

extension JSONValue: Decodable {
    /// Reads one value of any kind; throws `DecodingError.dataCorrupted` at a limit of the type.
    package init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.maximumDepth else {
            throw Self.corrupted(
                decoder, "nests deeper than \(Self.maximumDepth) levels, which is the limit")
        }
        if let scalar = try Self.scalar(from: decoder) {
            self = scalar
            return
        }
        // A decoder says what a value is only by refusing all else: here, that it is no object.
        if let members = try? decoder.container(keyedBy: Key.self) {
            self = .object(try Self.object(from: members))
            return
        }
        // As above. What is no array either is a number that nothing here can hold.
        guard var elements = try? decoder.unkeyedContainer() else {
            throw Self.corrupted(decoder, "is a number outside the range of a 64-bit float")
        }
        var array: [JSONValue] = []
        while !elements.isAtEnd {
            array.append(try elements.decode(JSONValue.self))
        }
        self = .array(array)
    }

    private static func scalar(from decoder: any Decoder) throws -> JSONValue? {
        // A container for one value is all that a decoder may refuse here.
        let container = try decoder.singleValueContainer()
        if container.decodeNil() { return .null }
        // Each refusal below means only that the value is of another kind.
        if let text = try? container.decode(String.self) { return .string(text) }
        if let flag = try? container.decode(Bool.self) { return .bool(flag) }
        if let integer = try? container.decode(Int64.self) { return .integer(integer) }
        if let number = try? container.decode(Double.self) { return .number(number) }
        return nil
    }

    private static func object(
        from members: KeyedDecodingContainer<Key>
    ) throws -> [String: JSONValue] {
        var object: [String: JSONValue] = [:]
        for key in members.allKeys {
            object[key.stringValue] = try members.decode(JSONValue.self, forKey: key)
        }
        return object
    }

    private static func corrupted(_ decoder: any Decoder, _ reason: String) -> DecodingError {
        DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: decoder.codingPath, debugDescription: reason))
    }

    /// A key of any name.
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            return nil
        }
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
