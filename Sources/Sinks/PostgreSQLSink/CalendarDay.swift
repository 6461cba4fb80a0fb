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

    private static let style = Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day()

    /// The day as in 2026-11-24.
    package var text: String {
        Date(timeIntervalSince1970: Double(self.number) * 86_400).formatted(Self.style)
    }

    /// The day of a text as in 20261124; nil if it is none.
    package init?(compact text: some StringProtocol) {
        guard text.utf8.count == 8, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        let dashed = "\(text.prefix(4))-\(text.dropFirst(4).prefix(2))-\(text.suffix(2))"
        guard let date = try? Date(dashed, strategy: Self.style) else { return nil }
        self.init(microseconds: Int64(date.timeIntervalSince1970) * 1_000_000)
        // A parser may take February 31 for a day of March.
        if self.text != dashed { return nil }
    }
}
