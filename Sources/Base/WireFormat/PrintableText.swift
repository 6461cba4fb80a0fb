extension String {
    /// Escapes control, format and line-separating characters as `\u{1b}`, so that untrusted text
    /// cannot control a terminal.
    package var printable: String {
        guard self.unicodeScalars.contains(where: Self.mustBeEscaped) else { return self }
        var text = ""
        for scalar in self.unicodeScalars {
            if Self.mustBeEscaped(scalar) {
                text += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func mustBeEscaped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
            .surrogate:
            return true
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .letterNumber,
            .otherNumber, .connectorPunctuation, .dashPunctuation, .openPunctuation,
            .closePunctuation, .initialPunctuation, .finalPunctuation, .otherPunctuation,
            .mathSymbol, .currencySymbol, .modifierSymbol, .otherSymbol, .spaceSeparator:
            return false
        @unknown default:
            return true
        }
    }
}
