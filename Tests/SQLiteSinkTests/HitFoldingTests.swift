// The counts of hits.db: hours become days, and days months, and nothing is lost.
internal import Foundation
internal import GRDB
internal import Pacing
@testable internal import SQLiteSink
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import Storage
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TrackingRules

/// What a row of counts says of its hits.
private struct Sum: Equatable {
    var numbers: [Int64]
    var times: ClosedRange<Int64>
    var campaign: Int64?
    var newest: Int64

    /// Both together. The name is that of the newest hit that has one.
    static func + (left: Sum, right: Sum) -> Sum {
        let named = [left, right].filter { $0.campaign != nil }
        let newest = (named.isEmpty ? [left, right] : named).max { $0.newest < $1.newest }
        let first = min(left.times.lowerBound, right.times.lowerBound)
        let last = max(left.times.upperBound, right.times.upperBound)
        return Sum(
            numbers: zip(left.numbers, right.numbers).map(+),
            times: first...last,
            campaign: newest?.campaign, newest: newest?.newest ?? 0)
    }
}

/// A plain list of all hits, and the calendar.
private struct PlainCounts {
    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    /// The groups, each with its hour first, and the hits.
    var hits: [(group: [Int64], sum: Sum)] = []

    /// The first hour of the step of an hour.
    static func start(of hour: Int64, _ steps: CountSteps) -> Int64 {
        guard hour < steps.days else { return hour }
        guard hour < steps.months else { return hour / 24 * 24 }
        let date = Date(timeIntervalSince1970: Double(hour) * 3600)
        let month = Self.calendar.dateInterval(of: .month, for: date)
        return Int64(month?.start.timeIntervalSince1970 ?? -1) / 3600
    }

    /// The sums of rows by step and group.
    static func sums(
        _ rows: [(group: [Int64], sum: Sum)], by steps: CountSteps
    ) -> [[Int64]: Sum] {
        rows.reduce(into: [:]) { sums, row in
            let group = [Self.start(of: row.group[0], steps)] + row.group.dropFirst()
            sums[group] = sums[group].map { $0 + row.sum } ?? row.sum
        }
    }
}

/// The table, with hits that come as the writer adds them.
private struct World {
    let database: Database
    var folding: HitFolding
    var counts: HitCounts
    var plain = PlainCounts()
    var today: Int64 = 1000
    var dice: Dice

    init(seed: UInt64, in database: Database) throws {
        try SQLiteSink.format.create(database)
        self.database = database
        self.folding = try HitFolding(in: database)
        self.counts = try HitCounts(in: database)
        self.dice = Dice(seed: seed)
    }

    mutating func step() throws {
        switch self.dice.below(10) {
        case 0...4: for _ in 0..<self.dice.below(30) { try self.add() }
        case 5: self.today += Int64(self.dice.below(60))
        case 6: self.today -= Int64(self.dice.below(5))
        case 7: self.folding = try HitFolding(in: self.database)
        default:
            let rows = self.dice.pick([0, 1, 2, 5, 50])
            try self.folding.fold(today: self.today, rows: rows, in: self.database)
        }
        try self.counts.finish()
    }

    private mutating func add() throws {
        // Most of them now, and others as late as a dead letter may be.
        let age = self.dice.chance(70) ? self.dice.below(48) : self.dice.below(16_000)
        let hour = self.today * 24 + 23 - Int64(age)
        let time = hour * 3_600_000_000 + Int64(self.dice.below(3_600_000_000))
        let (product, kind) = self.dice.pick([
            (Product.standard, HitKind.click), (.standard, .impression), (.firebase, .inAppClick),
        ])
        let (delivery, platform) = (Int64(self.dice.below(2)), Int64(self.dice.below(2)))
        let campaign = self.dice.pick([nil, nil, 5, 6, 7] as [Int64?])
        let (isFirstOfKind, isFirst) = (self.dice.chance(50), self.dice.chance(50))
        let id = Int64(self.plain.hits.count + 1)
        try self.counts.add(
            HitCounts.Group(
                hour: self.folding.start(of: hour), tenant: 1, app: 0, delivery: delivery,
                product: product, platform: platform, kind: kind.rawValue),
            isFirstOfKind: isFirstOfKind, isFirst: isFirst, time: time, campaign: campaign, id: id)
        let group = [
            hour, 1, 0, delivery, Int64(product.rawValue), platform, Int64(kind.rawValue),
        ]
        let numbers: [Int64] = [1, isFirstOfKind ? 1 : 0, isFirst ? 1 : 0]
        self.plain.hits.append(
            (group, Sum(numbers: numbers, times: time...time, campaign: campaign, newest: id)))
    }

    func rows() throws -> [(group: [Int64], sum: Sum)] {
        try Row.fetchAll(self.database, sql: "SELECT * FROM counts").map { row in
            let group: [Int64] = (0..<7).map { row[$0] }
            let numbers: [Int64] = (7..<10).map { row[$0] }
            let (first, last): (Int64, Int64) = (row[10], row[11])
            return (
                group,
                Sum(numbers: numbers, times: first...last, campaign: row[12], newest: row[13])
            )
        }
    }
}

final class HitFoldingTests: Sendable {
    private let directory: TemporaryDirectory
    private let today = Mutex(0)

    init() throws { self.directory = try TemporaryDirectory() }

    @Test("counts say the same before, while and after they are folded, with late hits too")
    func property() throws {
        for number in 0..<20 {
            let seed = Dice.runSeed &+ UInt64(number)
            try DatabaseQueue().write { database in
                var world = try World(seed: seed, in: database)
                for _ in 0..<60 {
                    try world.step()
                    let steps = world.folding.steps
                    let expected = PlainCounts.sums(world.plain.hits, by: steps)
                    let rows = try world.rows()
                    #expect(PlainCounts.sums(rows, by: steps) == expected, "seed \(seed)")
                }
                try world.folding.fold(today: world.today, rows: 1_000_000, in: database)
                let rows = try world.rows()
                let expected = PlainCounts.sums(world.plain.hits, by: world.folding.steps)
                #expect(rows.count == expected.count, "each is at its step's start, seed \(seed)")
                for row in rows { #expect(expected[row.group] == row.sum, "seed \(seed)") }
            }
        }
    }

    @Test("a delivery that is always in use has no more rows than docs/security.md says")
    func bound() throws {
        try DatabaseQueue().write { database in
            try SQLiteSink.format.create(database)
            var folding = try HitFolding(in: database)
            var counts = try HitCounts(in: database)
            var most = 0
            for day in Int64(0)..<900 {
                for hour in (day * 24)..<(day * 24 + 24) {
                    try counts.add(
                        HitCounts.Group(
                            hour: hour, tenant: 1, app: 1, delivery: 1, product: .standard,
                            platform: 1, kind: HitKind.click.rawValue),
                        isFirstOfKind: true, isFirst: true, time: hour * 3_600_000_000,
                        campaign: nil, id: hour + 1)
                }
                try counts.finish()
                try folding.fold(today: day, rows: 1000, in: database)
                let rows = try Int.fetchOne(database, sql: "SELECT count(*) FROM counts") ?? 0
                let months = CalendarMonth(ofDay: max(folding.steps.months, 0) / 24).number
                most = max(most, rows - Int(months))
            }
            #expect(most == 2184 + 305)
            #expect(try Int.fetchOne(database, sql: "SELECT sum(hits) FROM counts") == 900 * 24)
        }
    }

    private func rows(_ sql: String) throws -> [Row] {
        try DatabaseQueue(inUse: self.directory.file("hits.db"))
            .read { try Row.fetchAll($0, sql: sql) }
    }

    private func sink() throws -> SQLiteSink {
        var configuration = SQLiteConfiguration()
        configuration.retainDays = 0
        return try SQLiteSink(
            path: self.directory.file("hits.db"), configuration,
            today: { self.today.withLock { $0 } },
            retention: RetentionClock(.days, settling: .zero))
    }

    private func deliver(_ id: Int, day: Int, hour: Int = 0, to sink: SQLiteSink) async throws {
        self.today.withLock { $0 = day }
        let batch = try TestHits.batch(
            [TestEvents.full(id: id)], sequence: Int64(id),
            at: (Int64(day) * 24 + Int64(hour)) * 3_600_000_000)
        #expect(await sink.deliver(batch) == .delivered)
    }

    @Test(
        "hours are folded after 90 whole days, and days after their month is a year ago",
        arguments: [
            // The 5th of January, and that year's end: 365 days after the 1st of February is 396.
            (day: 5, today: 95, rows: 24), (5, 96, 1), (5, 395, 1), (5, 396, 1),
        ])
    func due(day: Int, today: Int, rows: Int) async throws {
        let sink = try self.sink()
        for hour in 0..<24 { try await self.deliver(hour + 1, day: day, hour: hour, to: sink) }
        try await self.deliver(100, day: today, to: sink)
        let counts = try self.rows("SELECT hour, hits FROM counts ORDER BY hour")
        #expect(counts.count == rows + 1)
        #expect(counts.reduce(0) { $0 + ($1["hits"] as Int) } == 25)
        let first = try #require(counts.first)
        #expect(first["hour"] as Int == (today < 396 ? day * 24 : 0))
    }

    @Test("a late hit is counted with the day or the month that is folded, also after a restart")
    func late() async throws {
        try await self.deliver(1, day: 500, to: try self.sink())
        for (id, time) in [(2, 3 * 24 + 5), (3, 300 * 24 + 7), (4, 450 * 24 + 9)] {
            let late = try TestHits.batch(
                [TestEvents.full(id: id)], sequence: Int64(id), at: Int64(time) * 3_600_000_000)
            #expect(await (try self.sink()).deliver(late) == .delivered)
        }
        let hours = try self.rows("SELECT hour FROM counts ORDER BY hour").map { $0[0] as Int }
        #expect(hours == [0, 300 * 24, 450 * 24 + 9, 500 * 24])
    }

    @Test("a clock that goes back unfolds nothing")
    func clockBack() async throws {
        let sink = try self.sink()
        try await self.deliver(1, day: 500, to: sink)
        try await self.deliver(2, day: 300, hour: 5, to: sink)
        let hours = try self.rows("SELECT hour FROM counts ORDER BY hour").map { $0[0] as Int }
        #expect(hours == [300 * 24, 500 * 24])
    }

    @Test("a clock that is years ahead when the file is new folds nothing, and one that lasts does")
    func clockAhead() async throws {
        let uptime = Mutex(Duration.zero)
        var configuration = SQLiteConfiguration()
        configuration.retainDays = 0
        let sink = try SQLiteSink(
            path: self.directory.file("hits.db"), configuration,
            today: { self.today.withLock { $0 } },
            retention: RetentionClock(.days, uptime: { uptime.withLock { $0 } }))
        func hours() throws -> [Int] {
            try self.rows("SELECT hour FROM counts ORDER BY hour").map { $0[0] as Int }
        }
        for id in 1...2 { try await self.deliver(id, day: 9000, to: sink) }
        for hour in 1...3 { try await self.deliver(10 + hour, day: 500, hour: hour, to: sink) }
        let byHour = (1...3).map { 500 * 24 + $0 }
        #expect(try hours() == byHour + [9000 * 24])
        // Ninety whole days later, and after an hour without another clock.
        try await self.deliver(20, day: 591, to: sink)
        uptime.withLock { $0 = .seconds(3599) }
        try await self.deliver(21, day: 591, to: sink)
        #expect(try hours() == byHour + [591 * 24, 9000 * 24])
        uptime.withLock { $0 = .seconds(3600) }
        try await self.deliver(22, day: 591, to: sink)
        #expect(try hours() == [500 * 24, 591 * 24, 9000 * 24])
    }

    @Test("a start reads no counts, but for the first one on a file of an earlier build")
    func start() async throws {
        try await self.deliver(1, day: 100, to: try self.sink())
        let database = try DatabaseQueue(inUse: self.directory.file("hits.db"))
        try await database.write { try $0.execute(sql: "UPDATE counts SET newest = 1000") }
        try await self.deliver(2, day: 100, to: try self.sink())
        try await database.write { try $0.execute(sql: "DROP TABLE bounds") }
        try await self.deliver(3, day: 100, to: try self.sink())
        #expect(try self.rows("SELECT rowid FROM hits ORDER BY 1").map { $0[0] } == [1, 2, 1001])
    }

    @Test("counts of an earlier build are folded with the next batches, a thousand with each")
    func earlierBuild() async throws {
        let sink = try self.sink()
        try await self.deliver(1, day: 10, to: sink)
        let database = try DatabaseQueue(inUse: self.directory.file("hits.db"))
        try await database.write { database in
            // 2,990 rows of an hour that is not its day's first.
            try database.execute(
                sql: """
                    WITH RECURSIVE numbers (n) AS (
                        SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2990)
                    INSERT INTO counts SELECT 241, tenant, app, 1000 + n, product, platform, kind,
                        1, 1, 1, 867600000000, 867600000000, NULL, 1
                    FROM counts, numbers
                    """)
        }
        let unfolded = "SELECT count(*) FROM counts WHERE hour = 241"
        for (id, left) in [(2, 1...2000), (3, 1...1000), (4, 0...0)] {
            try await self.deliver(id, day: 200, to: sink)
            let count = try self.rows(unfolded)[0][0] as Int
            #expect(left.contains(count), "after batch \(id): \(count)")
        }
        #expect(try self.rows("SELECT sum(hits) FROM counts")[0][0] == 2994)
    }
}
