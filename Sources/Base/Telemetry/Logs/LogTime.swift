internal import Foundation

/// The wall clock of log records, and its text form: RFC 3339 in UTC.
enum LogTime {
    /// Microseconds since 1970.
    @Sendable static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) &* 1_000_000 &+ Int64(time.tv_nsec) / 1000
    }

    /// Formats a time, e.g. `2026-01-31T23:59:59.123456Z`.
    static func text(_ microseconds: Int64) -> String {
        var seconds = time_t(microseconds / 1_000_000)
        var date = tm()
        gmtime_r(&seconds, &date)
        return Self.digits(date.tm_year + 1900, 4) + "-" + Self.digits(date.tm_mon + 1, 2) + "-"
            + Self.digits(date.tm_mday, 2) + "T" + Self.digits(date.tm_hour, 2) + ":"
            + Self.digits(date.tm_min, 2) + ":" + Self.digits(date.tm_sec, 2) + "."
            + Self.digits(CInt(microseconds % 1_000_000), 6) + "Z"
    }

    private static func digits(_ number: CInt, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
