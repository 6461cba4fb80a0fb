// How long to wait before the next connection: it grows with failures, and chance keeps clients
// that lost one server from coming back at the same moment.

/// Jittered waits from 100 ms to 30 s. Pure: chance comes from outside.
package struct Backoff: Sendable {
    /// The first and shortest wait.
    package static let shortest: Duration = .milliseconds(100)
    /// The longest wait.
    package static let longest: Duration = .seconds(30)

    private var previous: Duration = Backoff.shortest

    /// Starts with short waits.
    package init() {}

    /// The next wait: somewhere between the shortest and three times the one before.
    /// `chance` is a number from 0 to 1; others are clamped.
    package mutating func next(chance: Double) -> Duration {
        let span = self.previous * 3 - Self.shortest
        let wait = Self.shortest + span * min(max(chance, 0), 1)
        self.previous = min(wait, Self.longest)
        return self.previous
    }

    /// Progress was made: waits are short again.
    package mutating func reset() {
        self.previous = Self.shortest
    }
}
