// The rule for a key's value, and the spelling of keys and values.

extension ConfigurationKey {
    /// The part of its name before the first dot; the whole name if there is none.
    package var section: String {
        String(decoding: self.name.utf8.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
    }

    /// The environment variable that sets it.
    package var environmentVariable: String {
        let underscored = self.name.utf8.map { $0 == UInt8(ascii: ".") ? UInt8(ascii: "_") : $0 }
        return "SIGHTLINE_" + String(decoding: underscored, as: UTF8.self).uppercased()
    }

    /// The default as text; empty if there is none.
    package var standardText: String {
        switch self.standard {
        case .text(let value), .choice(let value, _): value
        case .number(let value, _): String(value)
        case .flag(let value): String(value)
        }
    }

    /// The rule for a value, as it follows the words "has to be".
    package var rule: String {
        switch self.standard {
        case .text(let standard):
            standard.isEmpty ? "text in one line" : "text in one line, and not empty"
        case .choice(_, let choices): "one of: " + choices.joined(separator: ", ")
        case .number(_, let range):
            "a whole number from \(range.lowerBound) to \(range.upperBound) (\(self.unit))"
                + Amount.examples(in: self.unit)
        case .flag: "true or false"
        }
    }

    /// Whether a text is a value of this key, by its type and range.
    package func takes(_ text: String) -> Bool {
        switch self.standard {
        case .text(let standard):
            (standard.isEmpty || !text.isEmpty)
                && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        case .choice(_, let choices): choices.contains(text)
        case .number(_, let range):
            Amount.value(of: text, in: self.unit).map(range.contains) ?? false
        case .flag: Bool(text) != nil
        }
    }
}
