/// The time by which stored data is too old to be kept.
///
/// It is the wall clock, unless that has jumped ahead: then it stays at the time before the jump,
/// until the new time has lasted for an hour. A clock that is wrong for some minutes, as before it
/// is set over the network, would otherwise delete data that has to be kept for months.
package struct RetentionClock: Sendable {
    /// The unit of times, counted since 1970.
    package enum Unit: Int64, Sendable {
        /// Days.
        case days = 1
        /// Microseconds.
        case microseconds = 86_400_000_000

        /// The most that the clock may advance between two calls without being doubted: 2 days.
        var maxStep: Int64 { 2 * self.rawValue }
    }

    private let unit: Unit
    private let settling: Duration
    /// The last time that was not doubted.
    private var trusted: Int64?
    /// When a jump was first seen, by the machine's uptime.
    private var jump: Duration?

    /// Creates a clock that has trusted no time yet.
    ///
    /// - Parameter settling: how long a time has to last after a jump.
    package init(_ unit: Unit, settling: Duration = .seconds(3600)) {
        self.unit = unit
        self.settling = settling
    }

    /// Whether it has trusted no time yet, so that its first answer depends on the stored data.
    package var isNew: Bool { self.trusted == nil }

    private static let start = ContinuousClock.now

    /// The time since the process first asked, by a clock that cannot be set.
    package static var uptime: Duration { Self.start.duration(to: .now) }

    /// The time by which to delete.
    ///
    /// - Parameters:
    ///   - now: the wall clock's time.
    ///   - stored: the newest trustworthy time of stored data, as found by `lastDay`; nil if
    ///     nothing is stored. Used at the first call only: the clock may be wrong already when the
    ///     server starts.
    ///   - uptime: tests substitute it.
    /// - Returns: `now`, or an earlier time.
    package mutating func time(
        _ now: Int64, stored: Int64?, uptime: Duration = Self.uptime
    ) -> Int64 {
        let trusted = min(self.trusted ?? stored ?? now, now)
        let jump = self.jump ?? uptime
        if now.distance(from: trusted) > self.unit.maxStep, uptime - jump < self.settling {
            (self.trusted, self.jump) = (trusted, jump)
            return trusted
        }
        (self.trusted, self.jump) = (now, nil)
        return now
    }

    /// The last stored day before the first gap of more than two days; nil if there is none. Days
    /// beyond a gap may come from a clock that was wrong. If it was right and the server was off,
    /// old data is kept for one hour more.
    package static func lastDay(of days: some Sequence<Int64>) -> Int64? {
        var last: Int64?
        for day in Set(days).sorted() {
            if let last, day.distance(from: last) > Unit.days.maxStep { break }
            last = day
        }
        return last
    }
}

extension Int64 {
    /// The distance from an earlier time.
    fileprivate func distance(from earlier: Int64) -> Int64 {
        let (distance, isTooLarge) = self.subtractingReportingOverflow(earlier)
        return isTooLarge ? .max : distance
    }
}
