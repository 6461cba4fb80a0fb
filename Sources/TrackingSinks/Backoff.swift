// How long to wait before a delivery is tried again.

/// Exponential backoff with full jitter: each wait is random between nothing and a ceiling, which
/// doubles from 100 ms to 30 s.
package struct Backoff: Sendable {
    private static let first = Duration.milliseconds(100)
    private static let longest = Duration.seconds(30)
    private var attempts = 0

    /// A backoff before its first wait.
    package init() {}

    /// The next wait.
    package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let ceiling = min(Self.first * (1 << min(self.attempts, 9)), Self.longest)
        self.attempts += 1
        return ceiling * Double.random(in: 0...1, using: &generator)
    }
}
