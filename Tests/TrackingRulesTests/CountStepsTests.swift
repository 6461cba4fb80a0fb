// The hours, days and months by which hits are counted, beside Foundation's calendar.
internal import Foundation
internal import Testing
internal import TrackingRules

struct CountStepsTests {
    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    @Test("each day of 1970 to 2399 is in the month that the calendar has it in")
    func months() throws {
        var (number, first): (Int64, Int64) = (0, 0)
        var wrong: [Int64] = []
        for day in Int64(0)..<157_000 {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400)
            if Self.calendar.component(.day, from: date) == 1, day > 0 {
                if CalendarMonth(number: number).next.firstDay != day { wrong.append(day) }
                (number, first) = (number + 1, day)
            }
            let month = CalendarMonth(ofDay: day)
            if month.number != number || month.firstDay != first { wrong.append(day) }
        }
        #expect(wrong.isEmpty && number > 5000)
    }

    @Test(
        "days before 1970 have a month too",
        arguments: [(-1, -1, -31), (-31, -1, -31), (-32, -2, -61), (-719_528, -23_640, -719_528)])
    func earlier(day: Int64, number: Int64, first: Int64) {
        #expect(CalendarMonth(ofDay: day).number == number)
        #expect(CalendarMonth(ofDay: day).firstDay == first)
    }

    @Test(
        "an hour is counted by itself, with its day or with its month, and the bounds are exact",
        arguments: [
            // Months up to February, days up to the 10th of March 1970.
            (0, 0..<744), (743, 0..<744), (744, 744..<1416), (1415, 744..<1416),
            (1416, 1416..<1440), (1439, 1416..<1440), (1440, 1440..<1464),
            (1631, 1608..<1632), (1632, 1632..<1633), (1633, 1633..<1634),
            (-1, -1..<0), (Int64.max / 3_600_000_000 + 1, 2_562_047_789..<2_562_047_790),
        ] as [(Int64, Range<Int64>)])
    func steps(hour: Int64, step: Range<Int64>) {
        #expect(CountSteps(days: 1632, months: 1416).step(of: hour) == step)
        #expect(CountSteps().step(of: hour) == hour..<(hour + 1))
    }
}
