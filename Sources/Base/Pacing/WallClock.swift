// The time of day.
internal import Foundation

/// The system's wall clock: records carry its time, and credentials expire by it.
package enum WallClock {
    /// Microseconds since 1970.
    @Sendable package static func microseconds() -> Int64 {
        Int64(Date().timeIntervalSince1970 * 1_000_000)
    }
}
