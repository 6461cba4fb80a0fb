// What a key asks of its value, and how the key and its values are written.

extension ConfigurationKey {
    /// What stands before the first dot of its name; the whole name where it has none.
    package var section: String {
        String(decoding: self.name.utf8.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self)
    }

    /// The variable that sets it in the environment.
    package var environmentVariable: String {
        let underscored = self.name.utf8.map { $0 == UInt8(ascii: ".") ? UInt8(ascii: "_") : $0 }
        return "SIGHTLINE_" + String(decoding: underscored, as: UTF8.self).uppercased()
    }

    /// The default, as text; empty where there is none.
    package var standardText: String {
        switch self.standard {
        case .text(let value), .choice(let value, _): value
        case .number(let value, _): String(value)
        case .flag(let value): String(value)
        }
    }

    /// What a value has to be, after the words "has to be".
    package var rule: String {
        switch self.standard {
        case .text(let standard):
            standard.isEmpty ? "text in one line" : "text in one line, and not empty"
        case .choice(_, let choices): "one of: " + choices.joined(separator: ", ")
        case .number(_, let range):
            "a whole number from \(range.lowerBound) to \(range.upperBound) (\(self.unit))"
        case .flag: "true or false"
        }
    }

    /// Whether a text is a value of this key by its type and range.
    package func takes(_ text: String) -> Bool {
        switch self.standard {
        case .text(let standard):
            (standard.isEmpty || !text.isEmpty)
                && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        case .choice(_, let choices): choices.contains(text)
        case .number(_, let range): Int(text).map(range.contains) ?? false
        case .flag: Bool(text) != nil
        }
    }
}
