// JSON's text of a value, or the beginning of it: an excerpt costs only what it shows, however
// large the value is.

/// Writes compact JSON, up to a limit.
struct JSONWriter {
    private(set) var text = ""
    /// The scalars that may still be written.
    private var room: Int

    /// Creates a writer of at most this many Unicode scalars; the escape of the last one may exceed
    /// it.
    init(maxScalars: Int) { self.room = maxScalars }

    mutating func write(_ value: JSONValue) { self.write(value, depth: 0) }

    private mutating func write(_ value: JSONValue, depth: Int) {
        guard self.room > 0 else { return }
        guard depth <= JSONValue.maximumDepth else { return self.append("null") }
        switch value {
        case .null: self.append("null")
        case .bool(let flag): self.append(flag ? "true" : "false")
        case .integer(let integer): self.append("\(integer)")
        case .number(let number): self.append(number.isFinite ? "\(number)" : "null")
        case .string(let text): self.write(quoting: text)
        case .array(let elements):
            self.append("[")
            for (index, element) in elements.enumerated() where self.room > 0 {
                if index > 0 { self.append(",") }
                self.write(element, depth: depth + 1)
            }
            self.append("]")
        case .object(let members):
            self.append("{")
            for (index, member) in members.inKeyOrder.enumerated() where self.room > 0 {
                if index > 0 { self.append(",") }
                self.write(quoting: member.key)
                self.append(":")
                self.write(member.value, depth: depth + 1)
            }
            self.append("}")
        }
    }

    private mutating func write(quoting text: String) {
        self.append("\"")
        self.write(escaping: text)
        self.append("\"")
    }

    /// Writes a string's text without quotes.
    mutating func write(escaping text: String) {
        for scalar in text.unicodeScalars {
            guard self.room > 0 else { return }
            switch scalar {
            case "\"": self.append("\\\"")
            case "\\": self.append("\\\\")
            case "\n": self.append("\\n")
            case "\r": self.append("\\r")
            case "\t": self.append("\\t")
            case "\u{00}"..."\u{1F}", "\u{7F}"..."\u{9F}":
                let digits = String(scalar.value, radix: 16)
                self.append(
                    "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits)
            default:
                self.text.unicodeScalars.append(scalar)
                self.room &-= 1
            }
        }
    }

    /// Appends JSON's own characters, all of which are ASCII.
    private mutating func append(_ text: String) {
        self.text += text
        self.room &-= text.utf8.count
    }
}
