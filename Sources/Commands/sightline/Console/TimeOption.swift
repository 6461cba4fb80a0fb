internal import ArgumentParser
internal import Foundation
internal import TrackingReport

/// An option that takes a time, such as `--since 2h`.
enum TimeOption {
    /// The time in microseconds since 1970.
    ///
    /// - Throws: `ValidationError` if the text is not a time.
    static func time(
        _ text: String, of option: String,
        now: Int64 = Int64(Date().timeIntervalSince1970 * 1_000_000), in zone: ReportZone = .utc
    ) throws -> Int64 {
        guard let time = ReportTime.parse(text, now: now, in: zone) else {
            throw ValidationError(
                """
                \(option) "\(text)" is no time: give 90s, 30m, 2h or 7d for that long ago, \
                today, yesterday, a date like 2026-11-20, or 2026-11-20T10:00:00Z.
                """)
        }
        return time
    }
}
