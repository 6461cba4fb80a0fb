internal import Pacing
internal import Testing

struct RetentionClockTests {
    private static let day: Int64 = 86_400_000_000
    private static let start: Int64 = 1_800_000_000_000_000

    @Test("a step of two days is trusted, and one beyond once it has lasted an hour")
    func jump() {
        var clock = RetentionClock(.microseconds)
        #expect(clock.time(Self.start, stored: nil, uptime: .zero) == Self.start)
        let later = Self.start + 2 * Self.day
        #expect(clock.time(later, stored: nil, uptime: .zero) == later)
        let jumped = later + 2 * Self.day + 1
        for seconds in [5, 1805, 3604] {
            #expect(clock.time(jumped, stored: nil, uptime: .seconds(seconds)) == later)
        }
        #expect(clock.time(jumped, stored: nil, uptime: .seconds(3605)) == jumped)
    }

    @Test("a clock that is set right again leaves no trace, and may be wrong once more")
    func setRight() {
        var clock = RetentionClock(.microseconds)
        _ = clock.time(Self.start, stored: nil, uptime: .zero)
        for round in 1...3 {
            let far = Self.start + 9999 * Self.day
            let seconds = round * 3000
            #expect(clock.time(far, stored: nil, uptime: .seconds(seconds)) == Self.start)
            #expect(clock.time(far, stored: nil, uptime: .seconds(seconds + 900)) == Self.start)
            let right = clock.time(Self.start, stored: nil, uptime: .seconds(seconds + 1800))
            #expect(right == Self.start)
        }
        let before = Self.start - 9999 * Self.day
        #expect(clock.time(before, stored: nil) == before)
    }

    @Test(
        "at the start what is stored is trusted, and the clock where nothing is, or all is newer",
        arguments: [
            (nil, 0), (0, 0), (-1, 0), (-2, 0), (-3, -3), (-90, -90), (5, 0),
        ] as [(Int64?, Int64)])
    func newest(days: Int64?, trusted: Int64) {
        var clock = RetentionClock(.microseconds)
        let newest = days.map { Self.start + $0 * Self.day }
        let time = clock.time(Self.start, stored: newest)
        #expect(time == Self.start + trusted * Self.day)
    }

    @Test(
        "of the stored days those beyond a gap are not trusted",
        arguments: [
            ([], nil), ([5], 5), ([5, 6, 8], 8), ([8, 5, 6, 6], 8), ([5, 6, 9], 6),
            ([1, 100, 101], 1), ([.min, .max], .min),
        ] as [([Int64], Int64?)])
    func gaps(days: [Int64], last: Int64?) {
        #expect(RetentionClock.lastDay(of: days) == last)
    }

    @Test("no time traps", arguments: [Int64.min, -1, 0, 1, .max])
    func extremes(now: Int64) {
        for newest in [Int64.min, -1, 0, 1, .max] {
            var clock = RetentionClock(.days)
            #expect(clock.time(now, stored: newest) <= now)
            #expect(clock.time(.max, stored: nil) <= .max)
        }
    }
}
