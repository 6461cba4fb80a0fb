/// Percent-encoding of URLs (RFC 3986, 2.1).
enum PercentEncoding {
    private static let percent = UInt8(ascii: "%")

    /// The bytes that a text stands for. An escape that is none stays as it is, as Android's SDK
    /// encodes nothing; `+` is itself, as no SDK encodes a space so.
    static func decoded(_ text: some Collection<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            var escape = rest
            if byte == Self.percent, let high = escape.popFirst().flatMap(Self.value(ofHex:)),
                let low = escape.popFirst().flatMap(Self.value(ofHex:))
            {
                decoded.append(high << 4 | low)
                rest = escape
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }

    /// A path or a query with escapes for what may stand in neither, and with those that it has.
    static func fit(_ text: String) -> String {
        var fit = ""
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap(Self.value(ofHex:))
            let isEscape = byte == Self.percent && digits.count == 2
            if isEscape || Self.isFit(byte) {
                fit.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let hex = String(byte, radix: 16, uppercase: true)
                fit += hex.utf8.count == 1 ? "%0\(hex)" : "%\(hex)"
            }
        }
        return fit
    }

    private static func isFit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~!$&'()*+,;=:@/?".utf8.contains(byte)
        }
    }

    /// The value of a hexadecimal digit.
    static func value(ofHex byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
