// What is wrong with a configuration, each problem with its place and its cure.

/// Problems that stop the start, all that were found.
package struct ConfigurationError: Error, CustomStringConvertible {
    /// One line each.
    package let problems: [String]

    /// Problems that were found.
    package init(_ problems: [String]) { self.problems = problems }

    /// The problems, a line each.
    package var description: String {
        self.problems.map { "configuration: \($0)" }.joined(separator: "\n")
    }
}
