/// Exponential backoff with jitter for deliveries, connections and exports. The ceiling doubles
/// with each wait, and each wait is drawn from the upper half of its range, so that clients which
/// failed together do not retry together.
package struct Backoff: Sendable {
    private let first: Duration
    private let longest: Duration
    private var ceiling: Duration

    /// Creates a backoff.
    ///
    /// - Parameters:
    ///   - first: the upper bound of the first wait.
    ///   - longest: the upper bound of every wait.
    package init(first: Duration = .milliseconds(100), longest: Duration = .seconds(30)) {
        self.first = first
        self.longest = longest
        self.ceiling = first
    }

    /// Draws the next wait and doubles the ceiling.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        defer { self.ceiling = min(self.ceiling * 2, self.longest) }
        return self.ceiling * Double.random(in: 0.5...1, using: &generator)
    }

    /// Resets the ceiling to that of the first wait. Call it after a success.
    package mutating func reset() { self.ceiling = self.first }
}
