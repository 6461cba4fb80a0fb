/// All problems found in a configuration. They prevent the server from starting.
package struct ConfigurationError: Error, CustomStringConvertible {
    /// The problems, one line each, with the setting and the fix.
    package let problems: [String]

    /// Creates an error from `problems`.
    package init(_ problems: [String]) { self.problems = problems }

    /// The problems, one per line.
    package var description: String {
        self.problems.map { "configuration: \($0)" }.joined(separator: "\n")
    }
}
