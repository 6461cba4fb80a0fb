// The escapes of RFC 8259, section 7: no text can end its string or its line, or inject a terminal
// escape.

/// Escapes text for a log record.
enum LogEscape {
    /// Appends text, escaped, as long as there are at most `limit` bytes; characters are never cut
    /// in two.
    ///
    /// - Returns: whether all of it fitted.
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

    /// What stands for a character that may not stand for itself.
    private static func escape(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\"": #"\""#
        case "\\": #"\\"#
        case "\n": #"\n"#
        case "\r": #"\r"#
        case "\t": #"\t"#
        case "\u{8}": #"\b"#
        case "\u{c}": #"\f"#
        // The rest of C0 by the RFC; DEL and C1 for terminals; the separators for JavaScript.
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
