/// Escapes text for log records (RFC 8259, section 7), so that it cannot end its string or line, or
/// inject a terminal escape.
enum LogEscape {
    /// Appends escaped text until `bytes` would exceed `limit`, without splitting a character.
    ///
    /// - Returns: whether all of the text was appended.
    static func append(_ text: String, to bytes: inout [UInt8], limit: Int) -> Bool {
        for scalar in text.unicodeScalars {
            let escape = Self.escape(scalar)
            let count = escape?.utf8.count ?? UTF8.width(scalar)
            guard bytes.count + count <= limit else { return false }
            if let escape {
                bytes += escape.utf8
            } else {
                bytes += UTF8.encode(scalar).map(Array.init) ?? []
            }
        }
        return true
    }

    /// The escape of a character; nil if it needs none.
    private static func escape(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\"": #"\""#
        case "\\": #"\\"#
        case "\n": #"\n"#
        case "\r": #"\r"#
        case "\t": #"\t"#
        case "\u{8}": #"\b"#
        case "\u{c}": #"\f"#
        // The other C0 controls (RFC 8259), DEL and C1 (terminals), and line separators
        // (JavaScript).
        case "\0"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
            #"\u"# + Self.hex(scalar.value)
        default: nil
        }
    }

    private static func hex(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }
}
