/// The time by which stored data is too old to be kept.
///
/// It is the wall clock's, unless that has jumped ahead: then the time before the jump holds until
/// the new one has lasted. A clock that is wrong for some minutes, as before it is set over the
/// network, would otherwise delete what was to be kept for months.
package struct RetentionClock: Sendable {
    /// What times are counted in, since 1970.
    package enum Unit: Int64, Sendable {
        case days = 1
        case microseconds = 86_400_000_000

        /// What the clock may advance between two calls without being doubted: 2 days.
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

    private static let start = ContinuousClock.now

    /// The time since the process first asked, by a clock that nobody sets.
    package static var uptime: Duration { Self.start.duration(to: .now) }

    /// The time to delete by.
    ///
    /// - Parameters:
    ///   - now: the wall clock's.
    ///   - newest: that of the newest data that is stored; nil for none. It is trusted at the first
    ///     call: the clock may be wrong already as the server starts.
    ///   - uptime: tests substitute it.
    /// - Returns: `now`, or an earlier time.
    package mutating func time(
        _ now: Int64, newest: Int64?, uptime: Duration = Self.uptime
    ) -> Int64 {
        let trusted = min(self.trusted ?? newest ?? now, now)
        let (step, isTooLarge) = now.subtractingReportingOverflow(trusted)
        let jump = self.jump ?? uptime
        if isTooLarge || step > self.unit.maxStep, uptime - jump < self.settling {
            (self.trusted, self.jump) = (trusted, jump)
            return trusted
        }
        (self.trusted, self.jump) = (now, nil)
        return now
    }
}
