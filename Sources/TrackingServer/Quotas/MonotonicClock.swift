// Time that only goes forward, for all that measures how long something takes.

/// The system's monotonic clock.
enum MonotonicClock {
    private static let start = ContinuousClock.now

    /// Nanoseconds since the first look at it.
    @Sendable static func nanoseconds() -> UInt64 {
        let (seconds, attoseconds) = self.start.duration(to: .now).components
        return UInt64(clamping: seconds) &* 1_000_000_000
            &+ UInt64(clamping: attoseconds / 1_000_000_000)
    }
}
