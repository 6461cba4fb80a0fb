// The clocks of a year: the time of day, which somebody sets wrong, and the uptime.
internal import Pacing
internal import Synchronization
internal import TrackingJournal

/// Stands still until the year moves it.
final class YearClock: Sendable {
    private struct State {
        /// Microseconds since the year began.
        var elapsed: Int64 = 0
        /// How far the time of day is wrong, in microseconds.
        var error: Int64 = 0
    }

    /// When the year begins, in microseconds since 1970: 2027-01-15, at midnight.
    static let start: Int64 = 1_799_971_200_000_000
    static let hour: Int64 = 3_600_000_000
    static let day: Int64 = 24 * hour
    /// By what the time of day is wrong: a time zone, a day, a battery, a typing error.
    static let errors: [Int64] = [
        -5 * 365 * day, -day, -hour, hour, day, 40 * day, 91 * day,
    ]

    private let state = Mutex(State())
    private let origin = ContinuousClock.now

    /// The days since 1970.
    var trueDay: Int64 { (Self.start + self.state.withLock { $0.elapsed }) / Self.day }

    /// The time of day as the server sees it, in microseconds since 1970.
    var wallTime: Int64 { self.state.withLock { Self.start + $0.elapsed + $0.error } }

    /// The days since 1970 as the server sees them.
    var wallDay: Int64 { self.wallTime / Self.day }

    var uptime: Duration { .microseconds(self.state.withLock { $0.elapsed }) }

    /// Moves to a time since the year began.
    func move(to elapsed: Int64) { self.state.withLock { $0.elapsed = elapsed } }

    /// Sets the time of day wrong, or right.
    func set(error: Int64) { self.state.withLock { $0.error = error } }

    /// This machine on these clocks.
    var machine: Machine {
        var machine = Machine.local
        machine.wallTime = { self.wallTime }
        machine.now = { self.origin + self.uptime }
        return machine
    }

    func retention(_ unit: RetentionClock.Unit) -> RetentionClock {
        RetentionClock(unit, uptime: { self.uptime })
    }
}
