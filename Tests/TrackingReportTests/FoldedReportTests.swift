// Reports over time that is counted by the day and by the month, beside the hits themselves.
internal import GRDB
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingReport

struct FoldedReportTests {
    private static let hour: Int64 = 3_600_000_000
    private static let day = 24 * Self.hour
    private static let first = Int(HitsDatabase.receiveTime / Self.day)

    /// A database of hits on some forty days within 550, the last of which is today.
    private static func database(
        _ dice: inout Dice
    ) async throws -> (database: HitsDatabase, today: Int) {
        let database = try HitsDatabase()
        var day = Self.first
        for _ in 0..<40 {
            day = min(day + dice.below(25), Self.first + 550)
            try await self.deliver(on: day, to: database, &dice)
        }
        day = Self.first + 550
        try await self.deliver(on: day, to: database, &dice)
        return (database, day)
    }

    private static func deliver(
        on day: Int, to database: HitsDatabase, _ dice: inout Dice
    ) async throws {
        database.set(today: day)
        for _ in 0..<3 {
            let time = Int64(day) * Self.day + Int64(dice.below(Int(Self.day)))
            let events = (0..<10).map { _ in HitCountsTests.event(&dice) }
            try await database.deliver(events, tenant: dice.pick(["shop", "bank"]), at: time)
        }
    }

    @Test(
        "a report of any range has the hits of the range that it names, and tells how that differs")
    func ranges() async throws {
        var dice = Dice(seed: Dice.runSeed)
        let (database, today) = try await Self.database(&dice)
        let hits = try database.hits()
        #expect(hits.count > 300, "seed \(Dice.runSeed)")
        let hourly = Int64(today - 90) * Self.day
        for number in 0..<60 {
            let start = HitsDatabase.receiveTime + Int64(dice.below(550)) * Self.day
            let since: Int64? = number == 0 ? nil : start + Int64(dice.below(Int(Self.day)))
            let until: Int64? = number == 1 ? nil : start + Int64(1 + dice.below(200)) * Self.day
            let report = try database.report { query in
                (query.since, query.until) = (since, until)
                query.isByApp = number.isMultiple(of: 2)
            }
            let (from, end) = (report.query.since, report.query.until)
            let counted = CountedHits(
                hits, since: from, until: end, isByApp: number.isMultiple(of: 2))
            #expect(
                Set(report.deliveries.rows.map { CountedHits.text($0) }) == counted.deliveries,
                "seed \(Dice.runSeed)")
            #expect(
                Set(report.inAppMessages.rows.map { CountedHits.text($0) }) == counted.messages,
                "seed \(Dice.runSeed)")
            #expect((from ?? Int64.min) <= (since ?? Int64.min))
            #expect((end ?? Int64.max) >= (until ?? Int64.max))
            // A bound that is moved by more than an hour is told.
            let moved = [
                since.map { $0 - (from ?? 0) >= Self.hour },
                until.map { (end ?? 0) - $0 >= Self.hour },
            ]
            let notes = report.notes.filter { !$0.contains("D63") }
            #expect(notes.count == moved.count { $0 == true }, "\(notes)")
            if let since, since >= hourly { #expect(moved[0] == false) }
        }
    }

    @Test("a report searches the counts by the hours of its range, with a range and without")
    func plan() throws {
        let sql = "SELECT sum(hits) FROM counts WHERE \(ReportQuery.condition)"
        let plan = try HitsDatabase().plan(sql, ReportQuery().arguments)
        #expect(plan.contains("(hour>? AND hour<?)"), "\(plan)")
    }

    @Test("a bound within a folded day or month is named, with the bound that holds")
    func notes() async throws {
        // The 15th of January 2027, and 450 days later, the 9th of April 2028: the months up to
        // March 2027 are folded, and the days up to the 9th of January 2028.
        let database = try HitsDatabase()
        try await database.deliver([TestEvents.push(.received, id: 1)])
        database.set(today: Self.first + 450)
        try await database.deliver(
            [TestEvents.push(.received, id: 2)],
            at: HitsDatabase.receiveTime + 450 * Self.day)
        let report = try database.report {
            $0.since = HitsDatabase.receiveTime + Self.hour
            $0.until = HitsDatabase.receiveTime + 100 * Self.day
        }
        #expect(report.deliveries.hits == 1, "the hit may be within the range, or not")
        #expect(
            report.notes == [
                "since 2027-01-15T09:00:00.000Z is within a month that is counted as a whole, so "
                    + "the range begins at 2027-01-01T00:00:00.000Z",
                "until 2027-04-25T08:00:00.000Z is within a day that is counted as a whole, so the "
                    + "range ends at 2027-04-26T00:00:00.000Z",
            ])
        #expect(
            report.range == "received from 2027-01-01T00:00:00.000Z until "
                + "2027-04-26T00:00:00.000Z")
        #expect(ReportTable(report).lines().suffix(2).elementsEqual(report.notes))
        let later = try database.report { $0.since = HitsDatabase.receiveTime + 449 * Self.day }
        #expect(later.notes.isEmpty && later.deliveries.hits == 1)
    }

    @Test(
        "a timeline's steps are no shorter than what is counted, and have the hits of their time",
        arguments: [0, 200, 470, 549])
    func timeline(days: Int) async throws {
        var dice = Dice(seed: Dice.runSeed)
        let (database, _) = try await Self.database(&dice)
        // As if retention had deleted some: the counts are read, and not the hits.
        try database.change("UPDATE partitions SET hits = 0")
        let since = HitsDatabase.receiveTime + Int64(days) * Self.day
        let timeline = try #require(try database.timeline { $0.since = since })
        let from = try #require(try database.report { $0.since = since }.query.since)
        let hits = try database.hits().filter {
            $0.receiveTime >= from && !$0.isAttempt && !$0.isSkipped && !$0.isNothingShown
        }
        #expect(timeline.steps.count <= Timeline.maxSteps)
        #expect(timeline.steps.reduce(0) { $0 + $1.total } == hits.count, "seed \(Dice.runSeed)")
        for (index, step) in timeline.steps.enumerated() {
            let next = index + 1
            let end = next < timeline.steps.count ? timeline.steps[next].start : Int64.max
            let expected = hits.count { step.start <= $0.receiveTime && $0.receiveTime < end }
            #expect(step.total == expected, "\(timeline.scale), seed \(Dice.runSeed)")
        }
        switch timeline.scale {
        case .months(let count): #expect(count == 1 && days == 0)
        case .seconds(let count): #expect(count >= (days < 460 ? 86_400 : 3600))
        }
    }
}
