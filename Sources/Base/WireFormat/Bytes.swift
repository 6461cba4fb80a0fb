/// Borrowed bytes of a request in the transport's buffer. Valid only inside the closure that
/// receives them.
@usableFromInline package typealias Bytes = UnsafeRawBufferPointer

extension UnsafeRawBufferPointer {
    /// An empty buffer.
    @inlinable package static var none: Bytes { Bytes(start: nil, count: 0) }

    /// Whether the bytes equal those of `literal`.
    @inlinable
    package func equals(_ literal: StaticString) -> Bool {
        guard self.count == literal.utf8CodeUnitCount else { return false }
        return self.elementsEqual(Bytes(start: literal.utf8Start, count: self.count))
    }

    /// Whether the bytes equal others. Used for every event; `elementsEqual` takes 70 instructions
    /// per byte.
    @inlinable
    package func equals(_ other: Bytes) -> Bool {
        self.count == other.count && self.holds(other, at: 0)
    }

    /// Whether the bytes equal those of an array.
    @inlinable
    package func equals(_ other: [UInt8]) -> Bool { other.withUnsafeBytes { self.equals($0) } }

    /// Whether the bytes at `offset` equal `part`; there must be room for it. Compares eight bytes
    /// at a time.
    @inlinable
    package func holds(_ part: Bytes, at offset: Int) -> Bool {
        var index = 0
        while index &+ 8 <= part.count {
            guard
                self.loadUnaligned(fromByteOffset: offset &+ index, as: UInt64.self)
                    == part.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            else { return false }
            index &+= 8
        }
        while index < part.count {
            guard self[offset &+ index] == part[index] else { return false }
            index &+= 1
        }
        return true
    }

    /// Whether the bytes equal those of `literal`, ignoring the case of ASCII letters only (D46).
    package func equalsIgnoringCase(_ literal: StaticString) -> Bool {
        guard self.count == literal.utf8CodeUnitCount else { return false }
        let lowercase = Bytes(start: literal.utf8Start, count: self.count)
        return zip(self, lowercase).allSatisfy { byte, letter in
            byte == letter || (byte | 0x20 == letter && (0x61...0x7a).contains(letter))
        }
    }

    /// Whether the bytes are valid UTF-8, as every proto3 string must be.
    @inlinable
    package var isValidUTF8: Bool {
        var bits: UInt64 = 0
        if self.count >= 8 {
            // Tests whole words; the last word overlaps the previous one.
            var offset = 0
            while offset < self.count &- 8 {
                bits |= self.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                offset &+= 8
            }
            bits |= self.loadUnaligned(fromByteOffset: self.count &- 8, as: UInt64.self)
        } else {
            for byte in self { bits |= UInt64(byte) }
        }
        return bits & 0x8080_8080_8080_8080 == 0 || self.isValidBeyondASCII
    }

    @usableFromInline
    var isValidBeyondASCII: Bool {
        do {
            _ = try UTF8Span(validating: self.assumingMemoryBound(to: UInt8.self).span)
            return true
        } catch {
            return false
        }
    }

    /// The longest prefix of at most `count` bytes that does not split a character.
    @inlinable
    package func cut(to count: Int) -> Bytes {
        guard self.count > count else { return self }
        var end = count
        // A byte of the form 10xxxxxx continues the character before it.
        while end > 0, self[end] & 0xc0 == 0x80 { end &-= 1 }
        return Bytes(rebasing: self[..<end])
    }

    /// The bytes as a string; invalid UTF-8 is replaced, so that an error can show it.
    package var text: String { String(decoding: self, as: UTF8.self) }

    /// The bytes for an error message: quoted, at most 64 characters, control characters escaped.
    package var quoted: String {
        let shown = self.prefix(256)
        let escaped = String(decoding: shown, as: UTF8.self).prefix(64).unicodeScalars
            .map { $0.value < 0x20 || $0.value == 0x7f ? $0.escaped(asASCII: true) : String($0) }
            .joined()
        return "\"\(escaped)\"" + (shown.count < self.count || escaped.count > 64 ? "…" : "")
    }
}

extension String {
    /// Its first `count` Unicode scalars, of at most four bytes each. `prefix` counts characters,
    /// and one of those may have any number of bytes.
    package func cut(toScalars count: Int) -> String { String(self.unicodeScalars.prefix(count)) }

    /// Calls `body` with the text's UTF-8.
    package func withBytes<Value>(_ body: (Bytes) throws -> Value) rethrows -> Value {
        var text = self
        return try text.withUTF8 { try body(Bytes($0)) }
    }
}
