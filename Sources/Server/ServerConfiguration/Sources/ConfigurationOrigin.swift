// Where a value of the configuration was set.

/// The place of a value, as people look for it.
package enum ConfigurationOrigin: Sendable, Equatable, CustomStringConvertible {
    /// A flag, as in `--listen` or `--set`.
    case flag(String)
    /// A variable of the environment.
    case environment(String)
    /// A place in a YAML file; lines and columns count from 1.
    case file(path: String, line: Int, column: Int)
    /// Nowhere: the value is the default.
    case standard

    /// As a problem begins with it.
    package var description: String {
        switch self {
        case .flag(let flag): flag
        case .environment(let variable): variable
        case .file(let path, let line, let column): "\(path):\(line):\(column)"
        case .standard: "default"
        }
    }
}
