// timespec is CoreFoundation's or Glibc's, depending on which module the compiler loads first.
internal import CoreFoundation
internal import Glibc

/// The system's monotonic clock.
package enum MonotonicClock {
    /// Nanoseconds since an arbitrary point before the process started. Called for each request, so
    /// it is a plain system call.
    @Sendable package static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }
}
