// The way back from a JSONValue to text: whole for custom fields, shortened for messages.

extension JSONValue {
    /// How many characters of a value a message shows, the ellipsis included.
    package static let maximumExcerptLength = 64

    /// Compact JSON: no spaces, keys in the order of their UTF-8 bytes, so equal values give equal
    /// text. Control characters are escaped, C1 too, so that text is safe on a terminal. A number
    /// that is no JSON (infinity), and all beyond `maximumDepth`, is written as null.
    package var text: String {
        var writer = JSONWriter(maxScalars: .max)
        writer.write(self)
        return writer.text
    }

    /// The value's text, cut to `maximumExcerptLength` Unicode scalars.
    package var excerpt: String {
        var writer = JSONWriter(maxScalars: Self.maximumExcerptLength + 1)
        writer.write(self)
        return Self.shortened(writer.text)
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
        var writer = JSONWriter(maxScalars: Self.maximumExcerptLength + 1)
        writer.write(escaping: key)
        return self.shortened(writer.text)
    }
}

extension Dictionary where Key == String {
    /// The members in the order of their keys' UTF-8 bytes: the same in every run of the program.
    package var inKeyOrder: [(key: String, value: Value)] {
        self.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}
