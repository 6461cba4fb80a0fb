// Time that only goes forward, for all that measures how long something takes.
// timespec is CoreFoundation's or Glibc's, by which of them the compiler meets first.
internal import CoreFoundation
internal import Glibc

/// The system's monotonic clock.
package enum MonotonicClock {
    /// Nanoseconds since some moment before the process began. Asked on the way of every request,
    /// so it is the system's call alone.
    @Sendable package static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }
}
