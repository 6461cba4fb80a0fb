internal import Foundation

/// The time zone in which a report's days begin and its times are shown.
package struct ReportZone: Sendable, Equatable {
    /// Its name, as in the database of time zones.
    package let name: String
    /// The zone.
    let zone: TimeZone

    /// UTC.
    package static let utc = ReportZone(name: "UTC", zone: .gmt)

    private init(name: String, zone: TimeZone) {
        self.name = name
        self.zone = zone
    }

    /// A zone by its name, such as `Europe/Berlin`; nil if there is none.
    package init?(named name: String) {
        guard let zone = TimeZone(identifier: name) else { return nil }
        self.init(name: name, zone: zone)
    }

    /// The first moment of the day with a time, both in microseconds since 1970.
    func midnight(of time: Int64) -> Int64 {
        let style = Date.ISO8601FormatStyle(timeZone: self.zone).year().month().day()
        let day = style.format(Date(timeIntervalSince1970: Double(time) / 1_000_000))
        // The style parses what it has formatted.
        let midnight = try? style.parse(day)
        return midnight.map { Int64($0.timeIntervalSince1970) * 1_000_000 } ?? time
    }
}
