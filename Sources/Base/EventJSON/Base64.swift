/// Base64 as proto3 JSON takes it: of either alphabet, with padding or without. `Base64URL` of
/// Credentials takes one form alone, because a token has one.
enum Base64 {
    /// Decodes a text; nil for a foreign character, a padding of the wrong length, or bits beyond
    /// the last byte that are not 0.
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let digits = text.dropLast(padding)
        guard digits.count % 4 != 1, padding == 0 || (digits.count + padding) % 4 == 0, padding < 3
        else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 &* 3 &+ 2)
        var (bits, bitCount): (UInt32, UInt32) = (0, 0)
        for digit in digits {
            guard let value = Self.value(digit) else { return nil }
            bits = (bits << 6 | UInt32(value)) & 0xffff
            bitCount &+= 6
            if bitCount >= 8 {
                bitCount &-= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
            }
        }
        return bits & ((1 << bitCount) &- 1) == 0 ? bytes : nil
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit &- UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit &- UInt8(ascii: "a") &+ 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit &- UInt8(ascii: "0") &+ 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
