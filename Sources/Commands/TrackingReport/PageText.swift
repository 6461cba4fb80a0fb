internal import Mustache
internal import WireFormat

/// Escapes text for the page, between tags or in a quoted attribute. The library's own escaping
/// works on characters, and would miss a quote that a combining mark follows.
struct PageText: MustacheContentType {
    func escapeText(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.printable.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;".unicodeScalars
            case "<": escaped += "&lt;".unicodeScalars
            case ">": escaped += "&gt;".unicodeScalars
            case "\"": escaped += "&quot;".unicodeScalars
            case "'": escaped += "&#39;".unicodeScalars
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
