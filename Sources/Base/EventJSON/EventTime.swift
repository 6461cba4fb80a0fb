internal import WireFormat

/// A time as google.protobuf.Timestamp has it.
struct EventTime: Equatable {
    /// The years 1 to 9999.
    private static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    let seconds: Int64
    let nanos: Int32

    /// Milliseconds since 1970; nil outside the years 1 to 9999.
    init?(milliseconds: Int64) {
        guard (Self.range.lowerBound * 1000...Self.range.upperBound * 1000 + 999) ~= milliseconds
        else { return nil }
        // Rounds down, so that the rest is never negative.
        let rest = (milliseconds % 1000 + 1000) % 1000
        let seconds = (milliseconds - rest) / 1000
        self.seconds = seconds
        self.nanos = Int32(rest) * 1_000_000
    }

    /// A time in RFC 3339, with up to nine digits of a second's fraction: nil for another text, and
    /// outside the years 1 to 9999.
    init?(text: Bytes) {
        var text = Digits(bytes: text)
        guard let year = text.number(of: 4), text.take("-"), let month = text.number(of: 2),
            text.take("-"), let day = text.number(of: 2), text.take("T") || text.take("t"),
            let hour = text.number(of: 2), text.take(":"), let minute = text.number(of: 2),
            text.take(":"), let second = text.number(of: 2), let nanos = text.fraction(),
            let zone = text.zone(), text.isAtEnd,
            (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day),
            year > 0, hour < 24, minute < 60, second < 60
        else { return nil }
        let secondOfDay = Int64(hour) * 3600 + Int64(minute) * 60 + Int64(second)
        let seconds = Self.day(year, month, day) * 86_400 + secondOfDay - zone
        guard Self.range.contains(seconds) else { return nil }
        self.seconds = seconds
        self.nanos = nanos
    }

    private static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return switch month {
        case 2: isLeap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The days since 1970. Years begin in March here, so that a leap day ends one.
    private static func day(_ year: Int, _ month: Int, _ day: Int) -> Int64 {
        let years = Int64(month > 2 ? year : year - 1)
        let months = Int64(month > 2 ? month - 3 : month + 9)
        let leapDays = years / 4 - years / 100 + years / 400
        // From March on, 153 days are five months. 1970-01-01 is day 719,468 of this count.
        return years * 365 + leapDays + (months * 153 + 2) / 5 + Int64(day) - 1 - 719_468
    }
}

/// Reads the digits of a time.
private struct Digits {
    let bytes: Bytes
    var place = 0

    var isAtEnd: Bool { self.place == self.bytes.count }

    private var digit: UInt8? {
        guard self.place < self.bytes.count else { return nil }
        let digit = self.bytes[self.place] &- UInt8(ascii: "0")
        return digit < 10 ? digit : nil
    }

    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard self.place < self.bytes.count, self.bytes[self.place] == UInt8(ascii: scalar) else {
            return false
        }
        self.place += 1
        return true
    }

    /// A number of as many digits.
    mutating func number(of count: Int) -> Int? {
        var number = 0
        for _ in 0..<count {
            guard let digit = self.digit else { return nil }
            number = number * 10 + Int(digit)
            self.place += 1
        }
        return number
    }

    /// The nanoseconds behind a point, if there is one.
    mutating func fraction() -> Int32? {
        guard self.take(".") else { return 0 }
        var (nanos, count): (Int32, Int) = (0, 0)
        while let digit = self.digit {
            guard count < 9 else { return nil }
            nanos = nanos * 10 + Int32(digit)
            count += 1
            self.place += 1
        }
        guard count > 0 else { return nil }
        for _ in count..<9 { nanos *= 10 }
        return nanos
    }

    /// The seconds that the zone is ahead of UTC.
    mutating func zone() -> Int64? {
        if self.take("Z") || self.take("z") { return 0 }
        let isAhead = self.take("+")
        guard isAhead || self.take("-"), let hours = self.number(of: 2), self.take(":"),
            let minutes = self.number(of: 2), hours < 24, minutes < 60
        else { return nil }
        let seconds = Int64(hours) * 3600 + Int64(minutes) * 60
        return isAhead ? seconds : -seconds
    }
}
