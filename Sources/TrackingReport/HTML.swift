// Markup that cannot be broken by what it shows.
internal import TrackingClient

/// Markup in which interpolated text is escaped: what ids and names hold stays text.
struct HTML: ExpressibleByStringInterpolation {
    /// The markup.
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

        /// Text, between tags or in a quoted attribute.
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

        /// A count, its thousands apart.
        mutating func appendInterpolation(_ count: Int) {
            self.source += ReportNumber.grouped(count)
        }

        mutating func appendInterpolation(_ html: HTML) { self.source += html.source }

        mutating func appendInterpolation(_ parts: [HTML]) {
            self.source += parts.map(\.source).joined(separator: "\n")
        }
    }
}
