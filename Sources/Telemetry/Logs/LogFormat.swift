// How logs look, as the configuration says it.
internal import Foundation

/// The form of log records.
package enum LogFormat: String, Sendable, CaseIterable {
    /// Text on a terminal, JSON elsewhere.
    case auto
    /// One JSON object per line.
    case json
    /// Lines for people.
    case text

    /// The form for standard error. Colours are for terminals, and not where NO_COLOR is set
    /// (no-color.org).
    package var standardErrorForm: LineLogHandler.Form {
        self.form(
            isTerminal: isatty(STDERR_FILENO) == 1,
            noColor: ProcessInfo.processInfo.environment["NO_COLOR"])
    }

    /// The form for an output that is a terminal or not.
    func form(isTerminal: Bool, noColor: String?) -> LineLogHandler.Form {
        let text = LineLogHandler.Form.text(isColored: isTerminal && (noColor ?? "").isEmpty)
        switch self {
        case .auto: return isTerminal ? text : .json
        case .json: return .json
        case .text: return text
        }
    }
}
