internal import Foundation

/// A day in UTC.
package struct CalendarDay: Sendable, Hashable, Comparable {
    /// Days since 1970.
    package let number: Int

    /// A day by its number since 1970.
    package init(_ number: Int) { self.number = number }

    /// The day of a time in microseconds since 1970.
    package init(microseconds: Int64) {
        let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 86_400_000_000)
        self.number = Int(remainder < 0 ? quotient - 1 : quotient)
    }

    /// Today, by the system's clock.
    package static var today: Self { Self(Int(Date().timeIntervalSince1970) / 86_400) }

    /// The day after.
    package var next: Self { Self(self.number &+ 1) }

    /// Whether one day is before another.
    package static func < (one: Self, other: Self) -> Bool { one.number < other.number }

    // Howard Hinnant's algorithm: years begin in March, in eras of 400.

    private static let eraDays = 146_097
    /// From 0000-03-01 to 1970-01-01.
    private static let epochDays = 719_468

    /// The day as in 2026-11-24; for the years 0 to 9999.
    package var text: String {
        let shifted = self.number + Self.epochDays
        let era = (shifted >= 0 ? shifted : shifted - Self.eraDays + 1) / Self.eraDays
        let ofEra = shifted - era * Self.eraDays
        let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let month = (5 * ofYear + 2) / 153
        let parts = [
            (year + era * 400 + (month >= 10 ? 1 : 0), 4), (month < 10 ? month + 3 : month - 9, 2),
            (ofYear - (153 * month + 2) / 5 + 1, 2),
        ]
        return parts.map { number, digits in
            let text = String(number)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }.joined(separator: "-")
    }

    /// The day of a text as in 20261124; nil if it is none.
    package init?(compact text: some StringProtocol) {
        guard text.utf8.count == 8, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let year = Int(text.prefix(4)), let month = Int(text.dropFirst(4).prefix(2)),
            let day = Int(text.suffix(2)), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        self.number =
            era * Self.eraDays + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - Self.epochDays
    }
}
