// JSON (RFC 8259) from bytes to a value, for all that strangers send: one pass that only moves
// forward, bounded in depth. Foundation's decoder tells kinds apart by refusals instead, each of
// which costs microseconds: 64 KiB of small values took it more than a second.

/// Reads one JSON document.
struct JSONReader<Bytes: RandomAccessCollection<UInt8>> {
    private let bytes: Bytes
    private let rules: JSONRules
    private var position: Bytes.Index

    private init(_ bytes: Bytes, _ rules: JSONRules) {
        self.bytes = bytes
        self.rules = rules
        self.position = bytes.startIndex
    }

    /// The document's value. Numbers that are whole and fit `Int64` are integers.
    ///
    /// - Throws: the first fault, with its place.
    static func value(of bytes: Bytes, _ rules: JSONRules) throws(JSONFault) -> JSONValue {
        var reader = JSONReader(bytes, rules)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == bytes.endIndex else { throw reader.fault("the end") }
        return value
    }

    private var next: UInt8? {
        self.position < self.bytes.endIndex ? self.bytes[self.position] : nil
    }

    private var offset: Int {
        self.bytes.distance(from: self.bytes.startIndex, to: self.position)
    }

    private func fault(_ expected: String) -> JSONFault {
        JSONFault(offset: self.offset, reason: self.refusal(expected).reason)
    }

    /// A fault of what is JSON by its grammar.
    private func refusal(_ expected: String) -> JSONFault {
        let place = self.position < self.bytes.endIndex ? "at byte \(self.offset)" : "at the end"
        return JSONFault(offset: nil, reason: "\(place) JSON has \(expected)")
    }

    private mutating func skip() { self.bytes.formIndex(after: &self.position) }

    private mutating func skipSpace() {
        while let byte = self.next, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
            self.skip()
        }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard self.next == UInt8(ascii: scalar) else { return false }
        self.skip()
        return true
    }

    private mutating func value(depth: Int) throws(JSONFault) -> JSONValue {
        self.skipSpace()
        switch self.next {
        case UInt8(ascii: "{"): return try self.object(depth: depth + 1)
        case UInt8(ascii: "["): return try self.array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try self.string())
        case UInt8(ascii: "t"): return try self.word("true", .bool(true))
        case UInt8(ascii: "f"): return try self.word("false", .bool(false))
        case UInt8(ascii: "n"): return try self.word("null", .null)
        case UInt8(ascii: "-"), (0x30...0x39)?: return try self.number()
        default: throw self.fault("a value")
        }
    }

    private mutating func word(
        _ word: StaticString, _ value: JSONValue
    ) throws(JSONFault) -> JSONValue {
        for byte in UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount) {
            guard self.next == byte else { throw self.fault(word.description) }
            self.skip()
        }
        return value
    }

    // MARK: Objects and arrays

    private mutating func object(depth: Int) throws(JSONFault) -> JSONValue {
        try self.enter(depth)
        var members: [String: JSONValue] = [:]
        self.skipSpace()
        if self.take("}") { return .object(members) }
        repeat {
            self.skipSpace()
            guard self.next == UInt8(ascii: "\"") else { throw self.fault("a name in quotes") }
            let name = try self.string()
            self.skipSpace()
            guard self.take(":") else { throw self.fault("a colon") }
            let value = try self.value(depth: depth)
            // Equal strings are equal here whatever their escapes, and canonically equivalent
            // ones too.
            if members[name] == nil {
                members[name] = value
            } else if !self.rules.takesRepeatedNames {
                throw self.refusal("each name once in an object")
            }
            self.skipSpace()
        } while self.take(",")
        guard self.take("}") else { throw self.fault("a comma or the object's end") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(JSONFault) -> JSONValue {
        try self.enter(depth)
        var elements: [JSONValue] = []
        self.skipSpace()
        if self.take("]") { return .array(elements) }
        repeat {
            elements.append(try self.value(depth: depth))
            self.skipSpace()
        } while self.take(",")
        guard self.take("]") else { throw self.fault("a comma or the array's end") }
        return .array(elements)
    }

    private mutating func enter(_ depth: Int) throws(JSONFault) {
        guard depth <= self.rules.maxDepth else {
            throw JSONFault(
                offset: self.offset,
                reason: "it nests deeper than \(self.rules.maxDepth) levels, which is the limit")
        }
        self.skip()
    }

    // MARK: Numbers

    private mutating func number() throws(JSONFault) -> JSONValue {
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
        let digits = self.bytes[start..<self.position]
        guard digits.count <= self.rules.maxNumberBytes else {
            throw self.refusal("a number of at most \(self.rules.maxNumberBytes) bytes")
        }
        let text = String(decoding: digits, as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            throw self.refusal("a number within the range of a 64-bit float")
        }
        // 1.0 and 1e2 are as whole as 1 and 100.
        return Int64(exactly: number).map { .integer($0) } ?? .number(number)
    }

    private mutating func digits() throws(JSONFault) {
        let start = self.position
        while let byte = self.next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            self.skip()
        }
        guard self.position > start else { throw self.fault("a digit") }
    }

    // MARK: Strings

    private mutating func string() throws(JSONFault) -> String {
        self.skip()
        let start = self.position
        var unescaped: [UInt8] = []
        var runStart = start
        while let byte = self.next {
            switch byte {
            case UInt8(ascii: "\""):
                let run = self.bytes[runStart..<self.position]
                let text =
                    runStart == start
                    ? String(validating: run, as: UTF8.self)
                    : String(validating: unescaped + run, as: UTF8.self)
                guard let text else { throw self.refusal("strings in UTF-8") }
                self.skip()
                return text
            case UInt8(ascii: "\\"):
                unescaped += self.bytes[runStart..<self.position]
                self.skip()
                unescaped += try self.escaped()
                runStart = self.position
            case 0..<0x20: throw self.fault("control characters escaped")
            default: self.skip()
            }
        }
        throw self.fault("a string's end")
    }

    private mutating func escaped() throws(JSONFault) -> String.UTF8View {
        guard let byte = self.next else { throw self.fault("an escaped character") }
        let text: String
        switch byte {
        case UInt8(ascii: "\""): text = "\""
        case UInt8(ascii: "\\"): text = "\\"
        case UInt8(ascii: "/"): text = "/"
        case UInt8(ascii: "b"): text = "\u{08}"
        case UInt8(ascii: "f"): text = "\u{0c}"
        case UInt8(ascii: "n"): text = "\n"
        case UInt8(ascii: "r"): text = "\r"
        case UInt8(ascii: "t"): text = "\t"
        case UInt8(ascii: "u"):
            self.skip()
            return String(try self.escapedScalar()).utf8
        default: throw self.fault("one of \"\\/bfnrtu after a backslash")
        }
        self.skip()
        return text.utf8
    }

    /// One scalar, of one escape or of a surrogate pair.
    private mutating func escapedScalar() throws(JSONFault) -> Unicode.Scalar {
        let first = try self.hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xd800..<0xdc00).contains(first), self.take("\\"), self.take("u") else {
            throw self.refusal("surrogates in pairs")
        }
        let second = try self.hexadecimal()
        let value = 0x10000 &+ (first &- 0xd800) << 10 &+ (second &- 0xdc00)
        guard (0xdc00..<0xe000).contains(second), let scalar = Unicode.Scalar(value) else {
            throw self.refusal("surrogates in pairs")
        }
        return scalar
    }

    private mutating func hexadecimal() throws(JSONFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = self.next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue
            else { throw self.fault("four hexadecimal digits") }
            value = value << 4 | UInt32(truncatingIfNeeded: digit)
            self.skip()
        }
        return value
    }
}
