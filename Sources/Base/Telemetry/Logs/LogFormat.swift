internal import Foundation

/// The format of log records, as configured.
package enum LogFormat: String, Sendable, CaseIterable {
    /// Text if standard error is a terminal, else JSON.
    case auto
    /// A JSON object per line.
    case json
    /// Text for people.
    case text

    /// The format for standard error. Colours are used on terminals unless NO_COLOR is set
    /// (no-color.org).
    package var standardErrorForm: LineLogHandler.Form {
        self.form(
            isTerminal: isatty(STDERR_FILENO) == 1,
            noColor: ProcessInfo.processInfo.environment["NO_COLOR"])
    }

    /// The format for an output that is, or is not, a terminal.
    func form(isTerminal: Bool, noColor: String?) -> LineLogHandler.Form {
        let text = LineLogHandler.Form.text(isColored: isTerminal && (noColor ?? "").isEmpty)
        switch self {
        case .auto: return isTerminal ? text : .json
        case .json: return .json
        case .text: return text
        }
    }
}
