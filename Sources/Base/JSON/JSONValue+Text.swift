// A JSONValue as text: whole for custom fields, shortened for messages.

extension JSONValue {
    /// The maximum characters of a value in a message, including the ellipsis.
    package static let maximumExcerptLength = 64

    /// Compact JSON: no spaces, keys in the order of their UTF-8 bytes, so that equal values give
    /// equal text. Control characters are escaped, including C1, so that the text is safe on a
    /// terminal. A number that JSON cannot represent (infinity), and everything beyond
    /// `maximumDepth`, is written as null.
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

    /// The value for messages, its kind and its text: "an integer: 5".
    package var described: String {
        guard self != .null else { return self.kindName }
        return "\(self.kindName): \(self.excerpt)"
    }

    /// Any text, cut to `maximumExcerptLength` Unicode scalars. Not characters, since a single one
    /// may have any number of combining marks.
    package static func shortened(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard scalars.dropFirst(self.maximumExcerptLength).first != nil else { return text }
        return String(String.UnicodeScalarView(scalars.prefix(self.maximumExcerptLength - 1))) + "…"
    }

    /// A key for messages: escaped as in JSON, without quotes, and shortened.
    package static func keyName(_ key: String) -> String {
        var writer = JSONWriter(maxScalars: Self.maximumExcerptLength + 1)
        writer.write(escaping: key)
        return self.shortened(writer.text)
    }
}
