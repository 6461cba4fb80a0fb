/// Base64url without padding (RFC 4648 section 5, RFC 7515 section 2). Strict: it rejects other
/// encodings of the same token.
enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Decodes a text; nil for a foreign character, padding, an impossible length, or trailing bits
    /// that are not 0.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 &* 3 &+ 2)
        var bits: UInt32 = 0
        var bitCount = 0
        for character in text {
            guard let value = Self.value(character) else { return nil }
            bits = (bits << 6 | UInt32(value)) & 0xffff
            bitCount &+= 6
            if bitCount >= 8 {
                bitCount &-= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        let rest = bits & ((1 << UInt32(bitCount)) &- 1)
        return rest == 0 ? bytes : nil
    }

    /// Encodes bytes.
    static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count / 3 &+ 1) &* 4)
        var bits: UInt32 = 0
        var bitCount = 0
        for byte in bytes {
            bits = (bits << 8 | UInt32(byte)) & 0xffff
            bitCount &+= 8
            while bitCount >= 6 {
                bitCount &-= 6
                text.append(Self.alphabet[Int(bits >> UInt32(bitCount)) & 0x3f])
            }
        }
        if bitCount > 0 { text.append(Self.alphabet[Int(bits << UInt32(6 &- bitCount)) & 0x3f]) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character &- UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character &- UInt8(ascii: "a") &+ 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character &- UInt8(ascii: "0") &+ 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
