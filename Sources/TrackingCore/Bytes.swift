// A borrowed run of bytes: a slice of a request that is still in the transport's buffer.

/// Bytes of a request, borrowed: valid only inside the closure that handed them out.
package typealias Bytes = UnsafeRawBufferPointer

extension UnsafeRawBufferPointer {
    /// No bytes at all.
    static var none: Bytes { Bytes(start: nil, count: 0) }

    /// Whether both hold the same bytes.
    func equals(_ literal: StaticString) -> Bool {
        guard self.count == literal.utf8CodeUnitCount else { return false }
        return self.elementsEqual(Bytes(start: literal.utf8Start, count: self.count))
    }

    /// Whether both hold the same letters, where A…Z and a…z count as one (D46: ASCII alone).
    func equalsIgnoringCase(_ literal: StaticString) -> Bool {
        guard self.count == literal.utf8CodeUnitCount else { return false }
        let lowercase = Bytes(start: literal.utf8Start, count: self.count)
        return zip(self, lowercase).allSatisfy { byte, letter in
            byte == letter || (byte | 0x20 == letter && (0x61...0x7a).contains(letter))
        }
    }

    /// Whether the bytes are valid UTF-8, as every proto3 string has to be.
    var isValidUTF8: Bool {
        var bits: UInt64 = 0
        if self.count >= 8 {
            // Words to the end; the last one overlaps the one before it.
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

    private var isValidBeyondASCII: Bool {
        do {
            _ = try UTF8Span(validating: self.assumingMemoryBound(to: UInt8.self).span)
            return true
        } catch {
            return false
        }
    }

    /// The longest part from the start that has at most `count` bytes and cuts no character.
    func cut(to count: Int) -> Bytes {
        guard self.count > count else { return self }
        var end = count
        // A byte of the form 10xxxxxx continues the character before it.
        while end > 0, self[end] & 0xc0 == 0x80 { end &-= 1 }
        return Bytes(rebasing: self[..<end])
    }

    /// The bytes as a string; invalid UTF-8 is replaced, so that an error can show it.
    package var text: String { String(decoding: self, as: UTF8.self) }

    /// The bytes for an error message: quoted, at most 64 characters, control characters escaped.
    var quoted: String {
        let shown = self.prefix(256)
        let escaped = String(decoding: shown, as: UTF8.self).prefix(64).unicodeScalars
            .map { $0.value < 0x20 || $0.value == 0x7f ? $0.escaped(asASCII: true) : String($0) }
            .joined()
        return "\"\(escaped)\"" + (shown.count < self.count || escaped.count > 64 ? "…" : "")
    }
}

extension String {
    /// Calls `body` with the text's UTF-8.
    func withBytes<Value>(_ body: (Bytes) -> Value) -> Value {
        var text = self
        return text.withUTF8 { body(Bytes($0)) }
    }
}
