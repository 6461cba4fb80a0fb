/// The steps of time by which hits.db counts hits: hours, and for older hits days and months, in
/// UTC. All hours are since 1970.
package struct CountSteps: Sendable, Equatable {
    /// Hours before this one are counted by the day; it is the first of a day.
    package var days: Int64
    /// Hours before this one are counted by the month; it is the first of a month.
    package var months: Int64

    /// The names of both numbers in the table `bounds` of hits.db.
    package static let (daysName, monthsName) = ("counted_by_day", "counted_by_month")

    /// Creates steps; all are hours, unless other bounds are given.
    package init(days: Int64 = .min, months: Int64 = .min) {
        (self.days, self.months) = (days, months)
    }

    /// The hours of the step that an hour is in.
    package func step(of hour: Int64) -> Range<Int64> {
        guard Self.hours.contains(hour), hour < max(self.days, self.months) else {
            return hour..<(hour + 1)
        }
        let day = hour.quotient(by: Self.hoursPerDay)
        if hour < self.months {
            let month = CalendarMonth(ofDay: day)
            return (month.firstDay * Self.hoursPerDay)..<(month.next.firstDay * Self.hoursPerDay)
        }
        return (day * Self.hoursPerDay)..<((day + 1) * Self.hoursPerDay)
    }

    /// The hours of a day.
    package static let hoursPerDay: Int64 = 24
    /// The hours of a time in microseconds.
    private static let hours = 0...(Int64.max / 3_600_000_000)
}

/// A month of the Gregorian calendar, in UTC.
package struct CalendarMonth: Sendable, Equatable {
    /// The months since January 1970.
    package var number: Int64

    /// The month with this number, since January 1970.
    package init(number: Int64) { self.number = number }

    /// The month of a day, since 1970. For days of the years that a time in microseconds can have.
    package init(ofDay day: Int64) {
        // 400 years have the same days each. A year begins in March here: its leap day is the last.
        let sinceMarch = day + Self.daysToMarch
        let era = sinceMarch.quotient(by: Self.eraDays)
        let eraDay = sinceMarch - era * Self.eraDays
        let year = (eraDay - eraDay / 1460 + eraDay / 36_524 - eraDay / 146_096) / 365
        let yearDay = eraDay - (365 * year + year / 4 - year / 100)
        let month = (5 * yearDay + 2) / 153
        self.number = (era * 400 + year) * 12 + month - Self.monthsToMarch
    }

    /// Its first day, since 1970.
    package var firstDay: Int64 {
        let sinceMarch = self.number + Self.monthsToMarch
        let years = sinceMarch.quotient(by: 12)
        let month = sinceMarch - years * 12
        let era = years.quotient(by: 400)
        let year = years - era * 400
        return era * Self.eraDays + 365 * year + year / 4 - year / 100 + (153 * month + 2) / 5
            - Self.daysToMarch
    }

    /// The month after it.
    package var next: CalendarMonth { CalendarMonth(number: self.number + 1) }

    private static let eraDays: Int64 = 146_097
    /// From March of the year 0 to January 1970.
    private static let (daysToMarch, monthsToMarch): (Int64, Int64) = (719_468, 1970 * 12 - 2)
}

extension Int64 {
    /// The quotient rounded down, also below zero.
    package func quotient(by divisor: Int64) -> Int64 {
        self >= 0 ? self / divisor : (self &+ 1) / divisor &- 1
    }
}
