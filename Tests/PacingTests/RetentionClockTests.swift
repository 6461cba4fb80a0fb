internal import Pacing
internal import Synchronization
internal import Testing

struct RetentionClockTests {
    private static let day: Int64 = 86_400_000_000
    private static let start: Int64 = 1_800_000_000_000_000

    @Test("a step of two days is trusted, and one beyond once it has lasted an hour")
    func jump() {
        for direction: Int64 in [1, -1] {
            var clock = RetentionClock(.microseconds)
            #expect(clock.time(Self.start, stored: nil, uptime: .zero) == Self.settled(Self.start))
            let later = Self.start + 2 * Self.day * direction
            #expect(clock.time(later, stored: nil, uptime: .zero) == Self.settled(later))
            let jumped = later + (2 * Self.day + 1) * direction
            let doubted = RetentionTime(earliest: min(later, jumped), latest: max(later, jumped))
            for seconds in [5, 1805, 3604] {
                #expect(clock.time(jumped, stored: nil, uptime: .seconds(seconds)) == doubted)
            }
            let time = clock.time(jumped, stored: nil, uptime: .seconds(3605))
            #expect(time == Self.settled(jumped))
        }
    }

    /// A time without a doubt.
    private static func settled(_ time: Int64) -> RetentionTime {
        RetentionTime(earliest: time, latest: time)
    }

    @Test("a clock that is set right again leaves no trace, and may be wrong once more")
    func setRight() {
        var clock = RetentionClock(.microseconds)
        _ = clock.time(Self.start, stored: nil, uptime: .zero)
        for (round, days) in ([9999, -9999, 9999] as [Int64]).enumerated() {
            let wrong = Self.start + days * Self.day
            let doubted = RetentionTime(
                earliest: min(wrong, Self.start), latest: max(wrong, Self.start))
            let seconds = (round + 1) * 3000
            for second in [seconds, seconds + 900] {
                #expect(clock.time(wrong, stored: nil, uptime: .seconds(second)) == doubted)
            }
            let right = clock.time(Self.start, stored: nil, uptime: .seconds(seconds + 1800))
            #expect(right == Self.settled(Self.start))
        }
    }

    @Test("a clock that is set again while in doubt has to last for an hour from then on")
    func setAgain() {
        var clock = RetentionClock(.microseconds)
        _ = clock.time(Self.start, stored: nil, uptime: .zero)
        let pause = 3 * Self.day
        // The first event after a pause of days, and three hours later one by a wrong clock.
        for (time, seconds, oldest) in [
            (Self.start + pause, 259_200, Self.start),
            (Self.start + pause + 40 * Self.day, 270_000, Self.start),
            (Self.start + pause + 40 * Self.day, 273_599, Self.start),
            (Self.start + pause + 40 * Self.day, 273_600, Self.start + pause + 40 * Self.day),
        ] {
            let found = clock.time(time, stored: nil, uptime: .seconds(seconds))
            #expect(found.earliest == oldest, "\(seconds) s")
            #expect(found.latest == time)
        }
    }

    @Test("a clock goes by the uptime that it was created with")
    func ownUptime() {
        let uptime = Mutex(Duration.zero)
        var clock = RetentionClock(.microseconds, uptime: { uptime.withLock { $0 } })
        _ = clock.time(Self.start, stored: nil)
        let wrong = Self.start + 40 * Self.day
        for (seconds, oldest) in [(5, Self.start), (3604, Self.start), (3605, wrong)] {
            uptime.withLock { $0 = .seconds(seconds) }
            #expect(clock.time(wrong, stored: nil).earliest == oldest, "\(seconds) s")
        }
    }

    @Test("what is as old as it may become stays, and what is older goes")
    func age() {
        let time = RetentionTime(earliest: 100, latest: 200)
        #expect(time.oldest(keeping: 30) == 70)
        #expect(!time.isOver(70, keeping: 30) && time.isOver(69, keeping: 30))
        #expect(RetentionTime(earliest: .min, latest: 0).oldest(keeping: 1) == .min)
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
        #expect(time.earliest == Self.start + trusted * Self.day)
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
            #expect(clock.time(now, stored: newest).earliest <= now)
            #expect(clock.time(.max, stored: nil).latest == .max)
        }
    }
}
