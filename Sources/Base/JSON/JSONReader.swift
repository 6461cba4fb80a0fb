// JSON (RFC 8259) from bytes to a value, for untrusted input: one forward pass, bounded in depth.
// Foundation's decoder finds a value's kind by failing attempts instead, each of which costs
// microseconds: for 64 KiB of small values it took more than a second.
internal import WireFormat

/// Reads one JSON document.
package struct JSONReader<Bytes: RandomAccessCollection<UInt8>> {
    let bytes: Bytes
    let rules: JSONRules
    var position: Bytes.Index
    /// Paths of kept members that occur again with a different value; see `keep`.
    var contradictions: [String] = []
    /// The offset of the first escape that is half of a surrogate pair.
    var unpairedSurrogate: Int?
    /// The names that lead to the value that is read.
    private var path: [String] = []
    /// The paths of members that occur again with a different value.
    private var repetitions: [[String]] = []

    init(_ bytes: Bytes, _ rules: JSONRules, at position: Bytes.Index? = nil) {
        self.bytes = bytes
        self.rules = rules
        self.position = position ?? bytes.startIndex
    }

    /// The document's value. Whole numbers that fit `Int64` are integers.
    ///
    /// - Throws: the first fault, with its offset.
    static func value(of bytes: Bytes, _ rules: JSONRules) throws(JSONFault) -> JSONValue {
        try Self.whole(of: bytes, rules).value
    }

    /// The document's value, with the paths of members that occur again in their object with
    /// another value, and the offset of the first escape that is half of a surrogate pair.
    ///
    /// - Throws: the first fault, with its offset.
    static func whole(
        of bytes: Bytes, _ rules: JSONRules
    ) throws(JSONFault) -> (value: JSONValue, repetitions: [[String]], unpairedSurrogate: Int?) {
        var reader = JSONReader(bytes, rules)
        let value = try reader.value(depth: 0)
        try reader.finish()
        return (value, reader.repetitions, reader.unpairedSurrogate)
    }

    /// Checks that nothing follows the value.
    mutating func finish() throws(JSONFault) {
        self.skipSpace()
        guard self.position == self.bytes.endIndex else { throw self.fault("the end") }
    }

    var next: UInt8? {
        self.position < self.bytes.endIndex ? self.bytes[self.position] : nil
    }

    var offset: Int {
        self.bytes.distance(from: self.bytes.startIndex, to: self.position)
    }

    func fault(_ expected: String) -> JSONFault {
        JSONFault(offset: self.offset, reason: self.refusal(expected).reason)
    }

    /// A fault in a document that is grammatically valid JSON.
    func refusal(_ expected: String) -> JSONFault {
        let place = self.position < self.bytes.endIndex ? "at byte \(self.offset)" : "at the end"
        return JSONFault(offset: nil, reason: "\(place) JSON has \(expected)")
    }

    mutating func skip() { self.bytes.formIndex(after: &self.position) }

    private mutating func skipSpace() {
        while let byte = self.next, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
            self.skip()
        }
    }

    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard self.next == UInt8(ascii: scalar) else { return false }
        self.skip()
        return true
    }

    /// The first byte of the next value; nil at the end.
    mutating func start() -> UInt8? {
        self.skipSpace()
        return self.next
    }

    /// The next value, nested in `depth` others.
    mutating func value(depth: Int) throws(JSONFault) -> JSONValue {
        switch self.start() {
        case UInt8(ascii: "{"): return try self.object(depth: depth + 1)
        case UInt8(ascii: "["): return try self.array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try self.text(of: try self.string()))
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
        var members = JSONObject()
        try self.eachMember(depth: depth) { reader, name throws(JSONFault) in
            // Equal texts are one name, even if their escapes differ.
            let name = try reader.text(of: name)
            reader.path.append(name)
            let value = try reader.value(depth: depth)
            if let first = members[name] {
                try reader.noteRepetition(of: first, with: value)
            } else {
                members[name] = value
            }
            reader.path.removeLast()
        }
        return .object(members)
    }

    /// Notes that the member at `path` occurs again. The first value counts.
    private mutating func noteRepetition(
        of first: JSONValue, with value: JSONValue
    ) throws(JSONFault) {
        guard self.rules.takesRepeatedNames else {
            throw self.refusal("each name once in an object")
        }
        if value != first { self.repetitions.append(self.path) }
    }

    private mutating func array(depth: Int) throws(JSONFault) -> JSONValue {
        var elements: [JSONValue] = []
        try self.eachElement(depth: depth) { reader throws(JSONFault) in
            elements.append(try reader.value(depth: depth))
        }
        return .array(elements)
    }

    /// Reads an object. `body` gets each member's name, and must read its value.
    mutating func eachMember(
        depth: Int, _ body: (inout JSONReader, JSONText<Bytes>) throws(JSONFault) -> Void
    ) throws(JSONFault) {
        try self.enter(depth)
        var isFirst = true
        while let name = try self.nextName(isFirst: isFirst) {
            isFirst = false
            try body(&self, name)
        }
    }

    /// Reads an array. `body` must read each element.
    mutating func eachElement(
        depth: Int, _ body: (inout JSONReader) throws(JSONFault) -> Void
    ) throws(JSONFault) {
        try self.enter(depth)
        var isFirst = true
        while try self.hasElement(isFirst: isFirst) {
            isFirst = false
            try body(&self)
        }
    }

    /// The name of an object's next member, whose value follows; nil at the object's end.
    mutating func nextName(isFirst: Bool) throws(JSONFault) -> JSONText<Bytes>? {
        self.skipSpace()
        if isFirst ? self.take("}") : !self.take(",") {
            if isFirst || self.take("}") { return nil }
            throw self.fault("a comma or the object's end")
        }
        self.skipSpace()
        guard self.next == UInt8(ascii: "\"") else { throw self.fault("a name in quotes") }
        let name = try self.string()
        self.skipSpace()
        guard self.take(":") else { throw self.fault("a colon") }
        return name
    }

    /// Whether an array has another element, which follows; false at the array's end.
    mutating func hasElement(isFirst: Bool) throws(JSONFault) -> Bool {
        self.skipSpace()
        if isFirst ? self.take("]") : !self.take(",") {
            if isFirst || self.take("]") { return false }
            throw self.fault("a comma or the array's end")
        }
        return true
    }

    /// Reads an object's or an array's opening bracket.
    mutating func enter(_ depth: Int) throws(JSONFault) {
        guard depth <= self.rules.maxDepth else {
            throw JSONFault(
                offset: self.offset,
                reason: "it nests deeper than \(self.rules.maxDepth) levels, which is the limit",
                isTooDeep: true)
        }
        self.skip()
    }
}
