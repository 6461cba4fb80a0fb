/// Markup that escapes interpolated text, so that ids and names cannot inject tags.
struct HTML: ExpressibleByStringInterpolation {
    let source: String

    init(stringLiteral source: String) { self.source = source }

    init(stringInterpolation: Interpolation) { self.source = stringInterpolation.source }

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var source: String

        init(literalCapacity: Int, interpolationCount: Int) {
            self.source = ""
            self.source.reserveCapacity(literalCapacity * 2)
        }

        mutating func appendLiteral(_ literal: String) { self.source += literal }

        /// Interpolates text, between tags or in a quoted attribute.
        mutating func appendInterpolation(_ text: String) {
            for character in text.printable.unicodeScalars {
                switch character {
                case "&": self.source += "&amp;"
                case "<": self.source += "&lt;"
                case ">": self.source += "&gt;"
                case "\"": self.source += "&quot;"
                case "'": self.source += "&#39;"
                default: self.source.unicodeScalars.append(character)
                }
            }
        }

        /// Interpolates a count with thousands separators.
        mutating func appendInterpolation(_ count: Int) {
            self.source += ReportNumber.grouped(count)
        }

        mutating func appendInterpolation(_ html: HTML) { self.source += html.source }

        mutating func appendInterpolation(_ parts: [HTML]) {
            self.source += parts.map(\.source).joined(separator: "\n")
        }
    }
}
