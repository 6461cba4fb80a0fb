// Numbers and strings, each read in one pass over its bytes.
internal import WireFormat

extension JSONReader {
    // MARK: Numbers

    mutating func number() throws(JSONFault) -> JSONValue {
        let (digits, isWhole) = try self.digitsOfNumber()
        guard digits.count <= self.rules.maxNumberBytes else {
            throw self.refusal("a number of at most \(self.rules.maxNumberBytes) bytes")
        }
        let text = String(decoding: digits, as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else {
            throw self.refusal("a number within the range of a 64-bit float")
        }
        // 1.0 and 1e2 are integers as well.
        return Int64(exactly: number).map { .integer($0) } ?? .number(number)
    }

    /// A number's text, and whether it has neither a fraction nor an exponent.
    mutating func digitsOfNumber() throws(JSONFault) -> (Bytes.SubSequence, isWhole: Bool) {
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
        return (self.bytes[start..<self.position], isWhole)
    }

    private mutating func digits() throws(JSONFault) {
        let start = self.position
        while let byte = self.next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            self.skip()
        }
        guard self.position > start else { throw self.fault("a digit") }
    }

    // MARK: Strings

    /// Reads a string without resolving its escapes.
    mutating func string() throws(JSONFault) -> JSONText<Bytes> {
        self.skip()
        let start = self.position
        var isEscaped = false
        while true {
            self.skipPlainText()
            guard let byte = self.next else { throw self.fault("a string's end") }
            switch byte {
            case UInt8(ascii: "\""):
                let text = self.bytes[start..<self.position]
                self.skip()
                return JSONText(bytes: text, isEscaped: isEscaped)
            case UInt8(ascii: "\\"):
                isEscaped = true
                self.skip()
                _ = try self.escaped()
            default: throw self.fault("control characters escaped")
            }
        }
    }

    /// Skips what a string has as it is.
    @inline(__always)
    private mutating func skipPlainText() {
        // In a variable of its own: the position would be stored for each byte.
        var place = self.position
        while place < self.bytes.endIndex {
            let byte = self.bytes[place]
            guard byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
                break
            }
            self.bytes.formIndex(after: &place)
        }
        self.position = place
    }

    /// The string with its escapes resolved.
    func text(of string: JSONText<Bytes>) throws(JSONFault) -> String {
        let text =
            string.isEscaped
            ? String(validating: try Self.unescaped(string.bytes), as: UTF8.self)
            : String(validating: string.bytes, as: UTF8.self)
        guard let text else {
            throw JSONReader(self.bytes, self.rules, at: string.bytes.endIndex)
                .refusal("strings in UTF-8")
        }
        return text
    }

    static func unescaped(_ string: Bytes.SubSequence) throws(JSONFault) -> [UInt8] {
        var unescaped: [UInt8] = []
        unescaped.reserveCapacity(string.count)
        var reader = JSONReader<Bytes.SubSequence>(string, .payload)
        while let byte = reader.next {
            reader.skip()
            if byte == UInt8(ascii: "\\") {
                unescaped += try reader.escaped()
            } else {
                unescaped.append(byte)
            }
        }
        return unescaped
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

    /// Reads one scalar: an escape, or a surrogate pair of two. Half of a pair, as of an emoji that
    /// was cut, reads as U+FFFD if the rules take it.
    private mutating func escapedScalar() throws(JSONFault) -> Unicode.Scalar {
        let start = self.position
        let first = try self.hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        if let scalar = try self.scalar(of: first) { return scalar }
        guard self.rules.takesUnpairedSurrogates else {
            throw self.refusal("surrogates in pairs")
        }
        // Before it are the backslash and the `u`.
        let place = self.bytes.distance(from: self.bytes.startIndex, to: start) - 2
        self.unpairedSurrogate = self.unpairedSurrogate ?? place
        return "\u{FFFD}"
    }

    /// Reads the second half of a surrogate pair, and gives its scalar. Nil if there is no pair;
    /// then nothing is read.
    private mutating func scalar(of first: UInt32) throws(JSONFault) -> Unicode.Scalar? {
        let start = self.position
        if (0xd800..<0xdc00).contains(first), self.take("\\"), self.take("u") {
            let second = try self.hexadecimal()
            if (0xdc00..<0xe000).contains(second) {
                return Unicode.Scalar(0x10000 &+ (first &- 0xd800) << 10 &+ (second &- 0xdc00))
            }
        }
        self.position = start
        return nil
    }

    private mutating func hexadecimal() throws(JSONFault) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let digit: UInt8
            switch self.next {
            case (UInt8(ascii: "0")...UInt8(ascii: "9"))?: digit = self.bytes[self.position] & 0xf
            case (UInt8(ascii: "A")...UInt8(ascii: "F"))?, (UInt8(ascii: "a")...UInt8(ascii: "f"))?:
                digit = self.bytes[self.position] & 0xf &+ 9
            default: throw self.fault("four hexadecimal digits")
            }
            value = value << 4 | UInt32(digit)
            self.skip()
        }
        return value
    }
}
