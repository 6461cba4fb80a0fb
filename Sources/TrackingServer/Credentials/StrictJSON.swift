// The JSON of tokens, read strictly: a name that stands twice is refused, for two readers may take
// it two ways (RFC 7515 section 4, RFC 7519 section 4). Bounded in depth; pure over its bytes.
internal import TrackingCore

/// Reads one JSON document.
struct StrictJSON {
    /// Levels that a document may nest; the tokens of the well-known issuers have up to four.
    static let maxDepth = 8
    /// Characters of a number.
    private static let maxNumberBytes = 32

    /// The bytes are no document that is accepted.
    struct Malformed: Error {}

    private let bytes: [UInt8]
    private var position = 0

    /// The document's value. Numbers that are whole and fit are integers.
    static func parse(_ bytes: [UInt8]) throws(Malformed) -> JSONValue {
        var reader = StrictJSON(bytes: bytes)
        let value = try reader.value(depth: 1)
        reader.skipSpace()
        guard reader.position == bytes.count else { throw Malformed() }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? {
        self.position < self.bytes.count ? self.bytes[self.position] : nil
    }

    private mutating func skipSpace() {
        while let byte = self.next, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
            self.position &+= 1
        }
    }

    private mutating func take(_ byte: Character) -> Bool {
        guard let expected = byte.asciiValue, self.next == expected else { return false }
        self.position &+= 1
        return true
    }

    private mutating func value(depth: Int) throws(Malformed) -> JSONValue {
        guard depth <= Self.maxDepth else { throw Malformed() }
        self.skipSpace()
        switch self.next {
        case UInt8(ascii: "{"): return try self.object(depth: depth)
        case UInt8(ascii: "["): return try self.array(depth: depth)
        case UInt8(ascii: "\""): return .string(try self.string())
        case UInt8(ascii: "t"): return try self.word("true", .bool(true))
        case UInt8(ascii: "f"): return try self.word("false", .bool(false))
        case UInt8(ascii: "n"): return try self.word("null", .null)
        default: return try self.number()
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(Malformed) -> JSONValue {
        guard self.bytes[self.position...].starts(with: word.utf8) else { throw Malformed() }
        self.position &+= word.utf8.count
        return value
    }

    private mutating func object(depth: Int) throws(Malformed) -> JSONValue {
        self.position &+= 1
        var members: [String: JSONValue] = [:]
        self.skipSpace()
        if self.take("}") { return .object(members) }
        repeat {
            self.skipSpace()
            guard self.next == UInt8(ascii: "\"") else { throw Malformed() }
            let name = try self.string()
            self.skipSpace()
            guard self.take(":") else { throw Malformed() }
            let value = try self.value(depth: depth &+ 1)
            // Equal strings are equal here whatever their escapes, and canonically equivalent
            // ones too: what differs only there is refused as well.
            guard members.updateValue(value, forKey: name) == nil else { throw Malformed() }
            self.skipSpace()
        } while self.take(",")
        guard self.take("}") else { throw Malformed() }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(Malformed) -> JSONValue {
        self.position &+= 1
        var elements: [JSONValue] = []
        self.skipSpace()
        if self.take("]") { return .array(elements) }
        repeat {
            elements.append(try self.value(depth: depth &+ 1))
            self.skipSpace()
        } while self.take(",")
        guard self.take("]") else { throw Malformed() }
        return .array(elements)
    }

    private mutating func number() throws(Malformed) -> JSONValue {
        let start = self.position
        _ = self.take("-")
        if !self.take("0") { try self.digits() }
        var isWhole = true
        if self.take(".") {
            isWhole = false
            try self.digits()
        }
        if self.take("e") || self.take("E") {
            isWhole = false
            if !self.take("+") { _ = self.take("-") }
            try self.digits()
        }
        guard self.position &- start <= Self.maxNumberBytes else { throw Malformed() }
        let text = String(decoding: self.bytes[start..<self.position], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw Malformed() }
        return .number(number)
    }

    private mutating func digits() throws(Malformed) {
        let start = self.position
        while let byte = self.next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            self.position &+= 1
        }
        guard self.position > start else { throw Malformed() }
    }

    // MARK: Strings

    private mutating func string() throws(Malformed) -> String {
        self.position &+= 1
        var text: [UInt8] = []
        while let byte = self.next {
            self.position &+= 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw Malformed()
                }
                return string
            case UInt8(ascii: "\\"): text += try self.escaped()
            case 0..<0x20: throw Malformed()
            default: text.append(byte)
            }
        }
        throw Malformed()
    }

    private mutating func escaped() throws(Malformed) -> [UInt8] {
        guard let byte = self.next else { throw Malformed() }
        self.position &+= 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0c]
        case UInt8(ascii: "n"): return [0x0a]
        case UInt8(ascii: "r"): return [0x0d]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return Array(String(try self.escapedScalar()).utf8)
        default: throw Malformed()
        }
    }

    /// One scalar, of one escape or of a surrogate pair.
    private mutating func escapedScalar() throws(Malformed) -> Character {
        let first = try self.hexadecimal()
        if let scalar = Unicode.Scalar(first) { return Character(scalar) }
        guard (0xd800..<0xdc00).contains(first), self.take("\\"), self.take("u") else {
            throw Malformed()
        }
        let second = try self.hexadecimal()
        guard (0xdc00..<0xe000).contains(second) else { throw Malformed() }
        let value = 0x10000 &+ (first &- 0xd800) << 10 &+ (second &- 0xdc00)
        guard let scalar = Unicode.Scalar(value) else { throw Malformed() }
        return Character(scalar)
    }

    private mutating func hexadecimal() throws(Malformed) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = self.next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue
            else { throw Malformed() }
            value = value << 4 | UInt32(truncatingIfNeeded: digit)
            self.position &+= 1
        }
        return value
    }
}
