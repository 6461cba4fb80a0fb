// Times as proto3 JSON has them: RFC 3339 in UTC.

extension TextBuffer {
    /// The seconds that a Timestamp may have: the years 1 to 9999.
    private static let seconds: ClosedRange<Int64> = -62_135_596_800...253_402_300_799
    /// The longest time: `"9999-12-31T23:59:59.999999999Z"`.
    private static let maxTimeBytes = 32

    /// Appends a Timestamp in quotes, with 0, 3, 6 or 9 digits of a second's fraction, whatever it
    /// needs: `"2026-11-23T14:03:33.120Z"`.
    ///
    /// - Parameter seconds: seconds since 1970.
    /// - Returns: false, and appends nothing, outside the range of Timestamp.
    package mutating func append(seconds: Int64, nanos: Int32) -> Bool {
        guard Self.seconds.contains(seconds), (0...999_999_999).contains(nanos) else {
            return false
        }
        let sinceYearOne = UInt64(seconds &- Self.seconds.lowerBound)
        let place = self.end(room: Self.maxTimeBytes)
        place.storeBytes(of: UInt8(ascii: "\""), as: UInt8.self)
        Self.write(day: sinceYearOne / 86_400, to: place + 1)
        Self.write(secondOfDay: sinceYearOne % 86_400, to: place + 11)
        let count = 20 &+ Self.write(fraction: UInt64(nanos), to: place + 20)
        place.storeBytes(of: UInt8(ascii: "Z"), toByteOffset: count, as: UInt8.self)
        place.storeBytes(of: UInt8(ascii: "\""), toByteOffset: count &+ 1, as: UInt8.self)
        self.advance(count &+ 2)
        return true
    }

    /// Writes the date of a day, counted from 0001-01-01, in 10 bytes.
    private static func write(day: UInt64, to place: UnsafeMutableRawPointer) {
        // Years begin in March here, so that a leap day ends one: 0001-01-01 is day 306 of year 0.
        let day = day &+ 306
        let (cycle, dayOfCycle) = (day / 146_097, day % 146_097)
        let leapDays = dayOfCycle / 1460 &- dayOfCycle / 36_524 &+ dayOfCycle / 146_096
        let yearOfCycle = (dayOfCycle &- leapDays) / 365
        let dayOfYear = dayOfCycle &- (yearOfCycle &* 365 &+ yearOfCycle / 4 &- yearOfCycle / 100)
        // From March on, 153 days are five months.
        let month = (dayOfYear &* 5 &+ 2) / 153
        let dayOfMonth = dayOfYear &- (month &* 153 &+ 2) / 5 &+ 1
        let isNextYear = month >= 10
        let year = cycle &* 400 &+ yearOfCycle &+ (isNextYear ? 1 : 0)
        Self.write(year, digits: 4, to: place)
        place.storeBytes(of: UInt8(ascii: "-"), toByteOffset: 4, as: UInt8.self)
        Self.write(isNextYear ? month &- 9 : month &+ 3, digits: 2, to: place + 5)
        place.storeBytes(of: UInt8(ascii: "-"), toByteOffset: 7, as: UInt8.self)
        Self.write(dayOfMonth, digits: 2, to: place + 8)
    }

    /// Writes `T` and the time of day in 9 bytes.
    private static func write(secondOfDay: UInt64, to place: UnsafeMutableRawPointer) {
        place.storeBytes(of: UInt8(ascii: "T"), as: UInt8.self)
        Self.write(secondOfDay / 3600, digits: 2, to: place + 1)
        place.storeBytes(of: UInt8(ascii: ":"), toByteOffset: 3, as: UInt8.self)
        Self.write(secondOfDay / 60 % 60, digits: 2, to: place + 4)
        place.storeBytes(of: UInt8(ascii: ":"), toByteOffset: 6, as: UInt8.self)
        Self.write(secondOfDay % 60, digits: 2, to: place + 7)
    }

    /// Writes a point and the digits that are needed, if any; gives the number of bytes.
    private static func write(fraction nanos: UInt64, to place: UnsafeMutableRawPointer) -> Int {
        guard nanos > 0 else { return 0 }
        place.storeBytes(of: UInt8(ascii: "."), as: UInt8.self)
        let (number, digits) =
            nanos % 1_000_000 == 0
            ? (nanos / 1_000_000, 3) : nanos % 1000 == 0 ? (nanos / 1000, 6) : (nanos, 9)
        Self.write(number, digits: digits, to: place + 1)
        return digits &+ 1
    }
}
