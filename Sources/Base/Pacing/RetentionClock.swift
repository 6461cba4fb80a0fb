/// The one clock for all stored data that is deleted by its age.
///
/// It is the wall clock, unless that has jumped, ahead or back. Then it has two times, until the
/// new one has lasted for an hour: the earlier one deletes, and what comes is stored under the
/// later one. A clock that is wrong for some minutes, as before it is set over the network, would
/// otherwise delete data that has to be kept for months.
package struct RetentionClock: Sendable {
    /// The unit of times, counted since 1970.
    package enum Unit: Int64, Sendable {
        /// Days.
        case days = 1
        /// Hours.
        case hours = 24
        /// Microseconds.
        case microseconds = 86_400_000_000

        /// The most that the clock may be set between two calls without being doubted: 2 days.
        var maxStep: Int64 { 2 * self.rawValue }
    }

    private let unit: Unit
    private let settling: Duration
    private let uptime: @Sendable () -> Duration
    /// The last time that was not doubted.
    private var trusted: Int64?
    private var doubt: Doubt?

    /// A time that is far from the trusted one.
    private struct Doubt {
        /// When it was first seen, by the machine's uptime.
        let since: Duration
        /// The wall clock minus the uptime: the same for as long as nobody sets the clock.
        let offset: Int64
    }

    /// Creates a clock that has trusted no time yet.
    ///
    /// - Parameters:
    ///   - settling: how long a time has to last after a jump.
    ///   - uptime: a clock that cannot be set; a simulation substitutes its own.
    package init(
        _ unit: Unit, settling: Duration = .seconds(3600),
        uptime: @escaping @Sendable () -> Duration = { RetentionClock.uptime }
    ) {
        self.unit = unit
        self.settling = settling
        self.uptime = uptime
    }

    /// Whether it has trusted no time yet, so that its first answer depends on the stored data.
    package var isNew: Bool { self.trusted == nil }

    private static let start = ContinuousClock.now

    /// The time since the process first asked, by a clock that cannot be set.
    package static var uptime: Duration { Self.start.duration(to: .now) }

    /// The time by which to store and to delete.
    ///
    /// - Parameters:
    ///   - now: the wall clock's time.
    ///   - stored: the newest trustworthy time of stored data, as found by `lastDay`; nil if
    ///     nothing is stored. Used at the first call only: the clock may be wrong already when the
    ///     server starts.
    ///   - uptime: instead of the clock's own; tests substitute it.
    package mutating func time(
        _ now: Int64, stored: Int64?, uptime: Duration? = nil
    ) -> RetentionTime {
        let uptime = uptime ?? self.uptime()
        let trusted = self.trusted ?? stored ?? now
        let doubt = self.continuedDoubt(of: now, uptime)
        if now.distance(from: trusted) > self.unit.maxStep, uptime - doubt.since < self.settling {
            (self.trusted, self.doubt) = (trusted, doubt)
            return RetentionTime(earliest: min(trusted, now), latest: max(trusted, now))
        }
        (self.trusted, self.doubt) = (now, nil)
        return RetentionTime(earliest: now, latest: now)
    }

    /// The doubt that there is, or a new one if the clock has been set since that began.
    private func continuedDoubt(of now: Int64, _ uptime: Duration) -> Doubt {
        let elapsed = Int64(uptime / .seconds(86_400) * Double(self.unit.rawValue))
        let (difference, isTooSmall) = now.subtractingReportingOverflow(elapsed)
        let offset = isTooSmall ? .min : difference
        guard let doubt, offset.distance(from: doubt.offset) <= self.unit.maxStep else {
            return Doubt(since: uptime, offset: offset)
        }
        return doubt
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
    /// The distance from another time, never negative.
    fileprivate func distance(from other: Int64) -> Int64 {
        let (earlier, later) = (Swift.min(self, other), Swift.max(self, other))
        let (distance, isTooLarge) = later.subtractingReportingOverflow(earlier)
        return isTooLarge ? .max : distance
    }
}
