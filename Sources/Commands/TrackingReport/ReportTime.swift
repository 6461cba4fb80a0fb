internal import Foundation

/// Parses and formats times in microseconds since 1970.
package enum ReportTime {
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    /// The years 1970 to 9999, which SQLite and ISO 8601 both support.
    private static let range: ClosedRange<Int64> = 0...253_402_300_799_000_000

    /// Parses `90s`, `30m`, `2h` or `7d` (before `now`), `today`, `yesterday` or a date (its
    /// midnight in a zone), or an ISO 8601 date and time with zone, e.g. `2026-11-20T10:00:00Z`.
    /// Nil if malformed.
    package static func parse(
        _ text: String, now: Int64, in zone: ReportZone = .utc
    ) -> Int64? {
        guard let last = text.last else { return nil }
        switch text {
        case "today": return zone.midnight(of: now)
        case "yesterday": return zone.midnight(of: zone.midnight(of: now) - 43_200_000_000)
        default: break
        }
        if let unit = self.units[last] { return self.before(now, text.dropLast(), unit) }
        return self.moment(text, in: zone).flatMap(self.microseconds)
    }

    /// Parses a date (its midnight in UTC), or an ISO 8601 date and time with zone; nil if it is
    /// malformed.
    static func absolute(_ text: String) -> Int64? {
        self.moment(text, in: .utc).flatMap(self.microseconds)
    }

    /// Formats a time as ISO 8601 with milliseconds, in UTC.
    package static func utc(_ microseconds: Int64) -> String { self.text(microseconds, in: .utc) }

    /// Formats a time as ISO 8601 with milliseconds and the zone's offset.
    package static func text(_ microseconds: Int64, in zone: ReportZone) -> String {
        Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
            .formatted(
                Date.ISO8601FormatStyle(
                    timeZoneSeparator: .colon, includingFractionalSeconds: true,
                    timeZone: zone.zone))
    }

    /// Formats a time for people, e.g. `2026-11-20 10:00`, optionally with seconds.
    static func plain(
        _ microseconds: Int64, hasSeconds: Bool = false, in zone: ReportZone
    ) -> String {
        let text = Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
            .formatted(
                Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: zone.zone)
                    .year().month().day().time(includingFractionalSeconds: false))
        return String(text.prefix(hasSeconds ? 19 : 16))
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

    private static func moment(_ text: String, in zone: ReportZone) -> Date? {
        // Check the shape first: the parsers accept trailing text and out-of-range days and hours.
        let shape =
            #/
            (?<day> \d{4}-\d\d-\d\d )
            (?<time> T ([01]\d|2[0-3]) (:[0-5]\d){2} (?<part> \.\d+ )? (Z|[+-]\d\d:\d\d) )?
            /#.asciiOnlyDigits()
        guard let match = text.wholeMatch(of: shape), let day = self.day(match.output.day, in: zone)
        else { return nil }
        guard match.output.time != nil else { return day }
        let hasFraction = match.output.part != nil
        // An invalid zone makes the text malformed; the caller explains it.
        return try? Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction).parse(text)
    }

    private static func day(_ text: Substring, in zone: ReportZone) -> Date? {
        let style = Date.ISO8601FormatStyle(timeZone: zone.zone).year().month().day()
        guard let day = try? style.parse(String(text)), style.format(day) == text
        else { return nil }
        return day
    }

    private static func microseconds(_ date: Date) -> Int64? {
        let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
        return Int64(exactly: microseconds).flatMap { self.range.contains($0) ? $0 : nil }
    }
}
