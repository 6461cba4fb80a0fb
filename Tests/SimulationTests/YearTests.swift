// Some weeks of the year that `make verify` lives whole.
internal import SQLiteSink
internal import Testing
internal import TrackingJournal
@testable internal import simulate

@Suite(.timeLimit(.minutes(10)))
struct YearTests {
    /// More than two of each limit of time: what is kept for 90 days of a year is kept for 6.
    private static let days = 24

    @Test(
        "forgets, other keys, restarts and wrong clocks: counts are an oracle's, and sizes stay",
        arguments: [1, 2] as [UInt64])
    func weeks(seed: UInt64) async throws {
        let plan = YearPlan(seed: seed, days: Self.days, eventsPerRequest: 40, isAlone: false)
        try await Year(plan).run()
    }

    @Test("limits of time are the server's own in a whole year, and smaller in a shorter one")
    func scale() {
        for (days, retained, unique, restart) in [(400, 90, 30, 7), (40, 9, 6, 2), (24, 6, 6, 2)] {
            let plan = YearPlan(seed: 1, days: days, eventsPerRequest: 360, isAlone: false)
            #expect(plan.sqlite.retainDays == retained)
            #expect(plan.sqlite.uniqueDays == unique)
            #expect(plan.journal.ledger.retainDays == retained)
            #expect(plan.restartDays == restart)
            #expect(plan.scale == 2000)
        }
    }

    @Test("a size that grows from the middle of a year to its end is a violation, and is named")
    func growth() throws {
        func measures(_ hits: Int) -> [YearMeasure] {
            [
                YearMeasure(day: 180, rows: [YearMeasure.hits: 10_000]),
                YearMeasure(day: 398, rows: [YearMeasure.hits: hits]),
            ]
        }
        // A quarter more, and what is spare.
        try YearMeasure.checkGrowth(measures(13_500), of: 400)
        #expect {
            try YearMeasure.checkGrowth(measures(13_501), of: 400)
        } throws: { "\($0)".contains("rows of hits.db hits: 10000 before day 200, 13501") }
        #expect(throws: Violation.self) { try YearMeasure.checkGrowth([], of: 400) }
    }
}

extension YearMeasure {
    /// A measure of rows alone.
    fileprivate init(day: Int, rows: [String: Int]) {
        self.init(day: day, start: .zero, memoryBytes: 0, fileCount: 0, bytes: [:], rows: rows)
    }
}
