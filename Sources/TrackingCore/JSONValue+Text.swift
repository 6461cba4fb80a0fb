// The way back from a JSONValue to text: whole for custom fields, shortened for messages.

extension JSONValue {
    /// How many characters of a value a message shows, the ellipsis included.
    package static let maximumExcerptLength = 64

    /// Compact JSON: no spaces, keys in the order of their UTF-8 bytes, so equal values give equal
    /// text. Control characters are escaped, C1 too, so that text is safe on a terminal. A number
    /// that is no JSON (infinity), and all beyond `maximumDepth`, is written as null.
    package var text: String {
        var output = ""
        self.write(to: &output, depth: 0)
        return output
    }

    /// The value's text, cut to `maximumExcerptLength` Unicode scalars.
    package var excerpt: String {
        Self.shortened(self.text)
    }

    /// The value as messages name it, its kind and its text: "an integer: 5".
    package var described: String {
        guard self != .null else { return self.kindName }
        return "\(self.kindName): \(self.excerpt)"
    }

    /// Any text, cut to `maximumExcerptLength` Unicode scalars. Scalars and not characters: one
    /// character may hold any number of combining marks.
    package static func shortened(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard scalars.dropFirst(self.maximumExcerptLength).first != nil else { return text }
        return String(String.UnicodeScalarView(scalars.prefix(self.maximumExcerptLength - 1))) + "…"
    }

    /// A key as messages show it: escaped as in JSON, without quotes, and shortened.
    package static func keyName(_ key: String) -> String {
        var output = ""
        self.escape(key, to: &output)
        return self.shortened(output)
    }

    private func write(to output: inout String, depth: Int) {
        guard depth <= Self.maximumDepth else {
            output += "null"
            return
        }
        switch self {
        case .null: output += "null"
        case .bool(let flag): output += flag ? "true" : "false"
        case .integer(let integer): output += String(integer)
        case .number(let number): output += number.isFinite ? "\(number)" : "null"
        case .string(let text): Self.quote(text, to: &output)
        case .array(let elements): Self.write(elements, to: &output, depth: depth)
        case .object(let members): Self.write(members, to: &output, depth: depth)
        }
    }

    private static func write(_ elements: [JSONValue], to output: inout String, depth: Int) {
        output += "["
        for (index, element) in elements.enumerated() {
            if index > 0 { output += "," }
            element.write(to: &output, depth: depth + 1)
        }
        output += "]"
    }

    private static func write(
        _ members: [String: JSONValue], to output: inout String, depth: Int
    ) {
        output += "{"
        for (index, member) in members.inKeyOrder.enumerated() {
            if index > 0 { output += "," }
            self.quote(member.key, to: &output)
            output += ":"
            member.value.write(to: &output, depth: depth + 1)
        }
        output += "}"
    }

    private static func quote(_ text: String, to output: inout String) {
        output += "\""
        self.escape(text, to: &output)
        output += "\""
    }

    private static func escape(_ text: String, to output: inout String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": output += "\\\""
            case "\\": output += "\\\\"
            case "\n": output += "\\n"
            case "\r": output += "\\r"
            case "\t": output += "\\t"
            case "\u{00}"..."\u{1F}", "\u{7F}"..."\u{9F}":
                let digits = String(scalar.value, radix: 16)
                output += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            default:
                output.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Dictionary where Key == String {
    /// The members in the order of their keys' UTF-8 bytes: the same in every run of the program.
    package var inKeyOrder: [(key: String, value: Value)] {
        self.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}
