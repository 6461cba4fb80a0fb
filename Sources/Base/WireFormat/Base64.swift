/// Base64 in the forms in which clients send it, and in the standard's own (RFC 4648). Inlinable:
/// called from another module, generic code makes an indirect call per byte.
@usableFromInline package enum Base64 {
    @usableFromInline static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    @inlinable static var pad: UInt8 { UInt8(ascii: "=") }

    /// Decodes a text in the standard or the URL alphabet, padded or not. With `isChunked` it may
    /// be several padded texts one after another, as gRPC-Web sends them.
    ///
    /// - Returns: nil for a foreign character, or for padding or an end where none can be.
    @inlinable
    package static func decode(_ text: some Collection<UInt8>, isChunked: Bool = false) -> [UInt8]?
    {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 &* 3 &+ 3)
        var group: UInt32 = 0
        var (digits, pads) = (0, 0)
        var hasEnded = false
        for character in text {
            if character == Self.pad {
                pads &+= 1
                guard digits >= 2, digits &+ pads <= 4 else { return nil }
                guard digits &+ pads == 4 else { continue }
                Self.append(group, digits: digits, to: &bytes)
                (group, digits, pads, hasEnded) = (0, 0, 0, true)
                continue
            }
            guard pads == 0, isChunked || !hasEnded, let value = Self.value(character)
            else { return nil }
            group = group << 6 | UInt32(value)
            digits &+= 1
            guard digits == 4 else { continue }
            Self.append(group, digits: 4, to: &bytes)
            (group, digits) = (0, 0)
        }
        guard pads == 0, digits != 1 else { return nil }
        Self.append(group, digits: digits, to: &bytes)
        return bytes
    }

    /// Appends the whole bytes of up to four digits.
    @inlinable
    static func append(_ group: UInt32, digits: Int, to bytes: inout [UInt8]) {
        guard digits > 1 else { return }
        let aligned = group << UInt32(6 &* (4 &- digits))
        for index in 0..<(digits &- 1) {
            bytes.append(UInt8(truncatingIfNeeded: aligned >> UInt32(16 &- 8 &* index)))
        }
    }

    /// Encodes bytes in the standard alphabet.
    @inlinable
    package static func encode(_ bytes: some Collection<UInt8>, isPadded: Bool) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count / 3 &+ 1) &* 4)
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(3)
            rest = rest.dropFirst(3)
            let group =
                part.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                << UInt32(8 &* (3 &- part.count))
            for index in 0...part.count {
                text.append(Self.alphabet[Int(group >> UInt32(18 &- 6 &* index)) & 0x3f])
            }
            if isPadded { text.append(contentsOf: repeatElement(Self.pad, count: 3 &- part.count)) }
        }
        return text
    }

    @inlinable
    static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character &- UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character &- UInt8(ascii: "a") &+ 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character &- UInt8(ascii: "0") &+ 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
