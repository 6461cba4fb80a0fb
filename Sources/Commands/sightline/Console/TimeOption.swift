internal import ArgumentParser
internal import Foundation
internal import TrackingReport
internal import WireFormat

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
                \(option) "\(text.printable)" is no time: give 90s, 30m, 2h or 7d for that long \
                ago, today, yesterday, a date like 2026-11-20, or 2026-11-20T10:00:00Z.
                """)
        }
        return time
    }

    /// The times of `--since` and `--until` in microseconds since 1970; nil where none is given.
    ///
    /// - Throws: `ValidationError` if a text is not a time, or nothing is between them.
    static func range(
        since: String?, until: String?, in zone: ReportZone = .utc
    ) throws -> (since: Int64?, until: Int64?) {
        // One time for both, so that 2h and 2h are the same.
        let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
        let since = try since.map { try Self.time($0, of: "--since", now: now, in: zone) }
        let until = try until.map { try Self.time($0, of: "--until", now: now, in: zone) }
        if let since, let until, since >= until {
            throw ValidationError(
                "--since \(ReportTime.utc(since)) is not before --until \(ReportTime.utc(until)).")
        }
        return (since, until)
    }
}
