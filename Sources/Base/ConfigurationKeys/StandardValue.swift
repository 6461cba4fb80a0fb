// The default of a key.

/// A default with its type and, for a number, its range.
package enum StandardValue: Sendable {
    case text(String)
    case choice(String, of: [String])
    case number(Int, ClosedRange<Int>)
    case flag(Bool)

    /// The unit of a key without an explicit one: numbers and files have it at the end of their
    /// name.
    func unit(ofKey name: String) -> String {
        let word = name.split { "._".contains($0) }.last.map(String.init) ?? ""
        switch self {
        case .number: return word
        case .text: return word == "file" ? "file" : "text"
        case .choice, .flag: return ""
        }
    }
}
