// Times of a report: what a person writes, and what is shown, always UTC.
internal import Foundation

/// Times in microseconds since 1970.
package enum ReportTime {
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    /// The years that SQLite, ISO 8601 and people agree on: 1970 to 9999.
    private static let range: ClosedRange<Int64> = 0...253_402_300_799_000_000

    /// Reads `90s`, `30m`, `2h` or `7d` (that long before `now`), a date (its midnight), or a date
    /// and time of ISO 8601 with its zone, as in `2026-11-20T10:00:00Z`. Nil where it is neither.
    package static func parse(_ text: String, now: Int64) -> Int64? {
        guard let last = text.last else { return nil }
        if let unit = self.units[last] { return self.before(now, text.dropLast(), unit) }
        return (self.day(text) ?? self.moment(text)).flatMap(self.microseconds)
    }

    /// A time in ISO 8601, to the millisecond.
    package static func utc(_ microseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// A time for people, to the minute, as in `2026-11-20 10:00`.
    static func minute(_ microseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
            .formatted(
                Date.ISO8601FormatStyle(dateTimeSeparator: .space).year().month().day()
                    .time(includingFractionalSeconds: false)
            )
            .prefix(16).description
    }

    private static func before(_ now: Int64, _ digits: Substring, _ unit: Int64) -> Int64? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let count = Int64(digits)
        else { return nil }
        let (seconds, isTooLong) = count.multipliedReportingOverflow(by: unit * 1_000_000)
        guard !isTooLong else { return nil }
        let time = now.subtractingReportingOverflow(seconds)
        return time.overflow || !self.range.contains(time.partialValue) ? nil : time.partialValue
    }

    private static func day(_ text: String) -> Date? {
        try? Date.ISO8601FormatStyle().year().month().day().parse(text)
    }

    private static func moment(_ text: String) -> Date? {
        // Neither form fitting is the answer "no time", which the caller explains.
        (try? Date.ISO8601FormatStyle().parse(text))
            ?? (try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text))
    }

    private static func microseconds(_ date: Date) -> Int64? {
        let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
        return Int64(exactly: microseconds).flatMap { self.range.contains($0) ? $0 : nil }
    }
}
