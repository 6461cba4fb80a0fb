// Strings as JSON has them. Runs of plain ASCII are copied in words of eight bytes.
package import WireFormat

extension TextBuffer {
    /// Appends a string in quotes. See `append(escaping:)`.
    ///
    /// - Throws: `invalidUTF8`; a part of the string may have been appended.
    package mutating func append(quoting text: Bytes) throws(WireError) {
        self.append(UInt8(ascii: "\""))
        try self.append(escaping: text)
        self.append(UInt8(ascii: "\""))
    }

    /// Appends a string's text without quotes, escaped as SwiftProtobuf does it: quotation marks,
    /// backslashes and the control characters U+0000…U+001F and U+007F…U+009F.
    ///
    /// - Throws: `invalidUTF8`; a part of the text may have been appended.
    @inline(__always)
    package mutating func append(escaping text: Bytes) throws(WireError) {
        guard let source = text.baseAddress else { return }
        var isValid = false
        var offset = 0
        // What is not escaped is no longer than its source.
        var end = self.end(room: text.count)
        while offset < text.count {
            let left = text.count &- offset
            let word = left >= 8 ? Self.word(source + offset) : Self.word(source + offset, left)
            // Bytes behind the last one are overwritten: there is slack for them.
            end.storeBytes(of: word.littleEndian, as: UInt64.self)
            let special = Self.specialBytes(in: word)
            if special == 0 {
                let count = min(left, 8)
                self.advance(count)
                end += count
                offset &+= count
                continue
            }
            let plain = special.trailingZeroBitCount / 8
            self.advance(plain)
            offset = try self.append(specialAt: offset &+ plain, in: text, &isValid)
            end = self.end(room: text.count &- offset)
        }
    }

    /// Eight bytes, the first one lowest.
    @inline(__always)
    private static func word(_ source: UnsafeRawPointer) -> UInt64 {
        UInt64(littleEndian: source.loadUnaligned(as: UInt64.self))
    }

    /// One to seven bytes, the first one lowest, and spaces above them.
    @inline(__always)
    private static func word(_ source: UnsafeRawPointer, _ count: Int) -> UInt64 {
        func byte(_ offset: Int) -> UInt64 {
            let byte = source.loadUnaligned(fromByteOffset: offset, as: UInt8.self)
            return UInt64(byte) &<< UInt64(truncatingIfNeeded: offset &* 8)
        }
        func half(_ offset: Int) -> UInt64 {
            let half = source.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            return UInt64(UInt32(littleEndian: half)) &<< UInt64(truncatingIfNeeded: offset &* 8)
        }
        // Parts that overlap agree, so they are simply joined.
        let bytes =
            count >= 4 ? half(0) | half(count &- 4) : byte(0) | byte(count / 2) | byte(count &- 1)
        return bytes | 0x2020_2020_2020_2020 &<< UInt64(truncatingIfNeeded: count &* 8)
    }

    /// The highest bit of each byte that is not plain, up to the first such byte; those of later
    /// bytes may be wrong. Plain is printable ASCII other than `"` and `\`.
    @inline(__always)
    private static func specialBytes(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let isDelete = word &+ ones
        let isControl = word &- (ones &* 0x20)
        let isQuote = (word ^ (ones &* 0x22)) &- ones
        let isBackslash = (word ^ (ones &* 0x5c)) &- ones
        return (word | isDelete | isControl | isQuote | isBackslash) & (ones &* 0x80)
    }

    /// Appends the byte at `offset`, which is not plain; if it is not ASCII, all up to the next
    /// ASCII byte.
    ///
    /// - Parameter isValid: whether the text is known to be UTF-8 from here on.
    /// - Returns: the offset behind it.
    @inline(never)
    private mutating func append(
        specialAt offset: Int, in text: Bytes, _ isValid: inout Bool
    ) throws(WireError) -> Int {
        guard text[offset] >= 0x80 else {
            self.append(escape: text[offset])
            return offset &+ 1
        }
        if !isValid {
            guard Bytes(rebasing: text[offset...]).isValidUTF8 else { throw .invalidUTF8 }
            isValid = true
        }
        var offset = offset
        while offset < text.count, text[offset] >= 0x80 {
            // U+0080…U+009F are C2 80…C2 9F. No character ends with the byte C2.
            if text[offset] == 0xc2, text[offset &+ 1] < 0xa0 {
                self.append(escape: text[offset &+ 1])
                offset &+= 2
            } else {
                self.append(text[offset])
                offset &+= 1
            }
        }
        return offset
    }

    private mutating func append(escape character: UInt8) {
        switch character {
        case 0x08: self.append("\\b")
        case 0x09: self.append("\\t")
        case 0x0a: self.append("\\n")
        case 0x0c: self.append("\\f")
        case 0x0d: self.append("\\r")
        case UInt8(ascii: "\""): self.append("\\\"")
        case UInt8(ascii: "\\"): self.append("\\\\")
        default:
            self.append("\\u00")
            self.append(Self.hexDigit(character >> 4))
            self.append(Self.hexDigit(character & 15))
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? value &+ UInt8(ascii: "0") : value &- 10 &+ UInt8(ascii: "A")
    }
}
