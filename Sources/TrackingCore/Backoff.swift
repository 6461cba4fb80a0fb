// How long to wait before something is tried again: a delivery, a connection, an export.

/// Exponential backoff with jitter: the ceiling doubles with each wait, and each wait lies in the
/// upper half of its own, so that those who failed together do not come back together.
package struct Backoff: Sendable {
    private let first: Duration
    private let longest: Duration
    private var ceiling: Duration

    /// A backoff before its first wait.
    ///
    /// - Parameters:
    ///   - first: the ceiling of the first wait.
    ///   - longest: the ceiling of every wait.
    package init(first: Duration = .milliseconds(100), longest: Duration = .seconds(30)) {
        self.first = first
        self.longest = longest
        self.ceiling = first
    }

    /// The next wait.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        defer { self.ceiling = min(self.ceiling * 2, self.longest) }
        return self.ceiling * Double.random(in: 0.5...1, using: &generator)
    }

    /// Progress was made: waits are short again.
    package mutating func reset() { self.ceiling = self.first }
}
