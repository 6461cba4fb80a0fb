// Reports of what came through the API alone, or as postbacks alone.
internal import GRDB
internal import SightlineProtos
internal import TestSupport
internal import Testing
@testable internal import TrackingReport
internal import TrackingRules

struct SourceTests {
    /// Four clicks of the API and an opening, and three clicks as postbacks: one of them the same
    /// as the API's, which counts as what came first.
    private static func database() async throws -> HitsDatabase {
        let database = try HitsDatabase()
        try await database.deliver(
            (1...4).map { TestEvents.action(.click, id: $0) } + [TestEvents.push(.opened, id: 9)])
        try await database.deliver(
            (4...6).map { TestEvents.action(.click, id: $0) }, from: .postback)
        return database
    }

    @Test("D66: a report has all hits, or those of one source, and both add up")
    func report() async throws {
        let database = try await Self.database()
        let all = try database.report().deliveries.hits
        let parts = try EventSource.allCases.map { source in
            try database.report { $0.source = source }.deliveries.hits
        }
        #expect(all == 8 && parts == [6, 2])
        #expect(try database.report { $0.source = .postback }.range.hasSuffix("by postback alone"))
        for isByOccurrence in [false, true] {
            let hits = try database.report {
                $0.source = .postback
                $0.isByOccurrence = isByOccurrence
            }.deliveries.hits
            #expect(hits == 2)
        }
    }

    @Test("D66: a report of all sources that reads the hits is the one of the counts")
    func counts() async throws {
        let database = try HitsDatabase()
        var dice = Dice(seed: Dice.runSeed)
        for _ in 0..<20 {
            try await database.deliver((0..<20).map { _ in HitCountsTests.event(&dice) })
        }
        let counted = try database.report { $0.isByApp = true }
        let read = try database.report {
            $0.isByApp = true
            $0.source = .api
        }
        #expect(read.deliveries == counted.deliveries, "seed \(Dice.runSeed)")
        // By source, a message has one campaign for all apps: names are in the table of counts.
        func unnamed(_ report: Report) -> [InAppFunnel] {
            report.inAppMessages.rows.map { row in
                var row = row
                row.campaign = nil
                return row
            }
        }
        #expect(unnamed(read) == unnamed(counted), "seed \(Dice.runSeed)")
    }

    @Test("D66: details show postbacks apart, and leave them out where that is asked for")
    func details() async throws {
        let database = try await Self.database()
        func uses(_ change: (inout ReportQuery) -> Void = { _ in }) throws -> [String] {
            try database.details(.push, change).rows.compactMap { row in
                row.use.map { "\($0.what) \($0.source) \(row.hits)" }
            }.sorted()
        }
        #expect(try uses() == ["click api 5", "click postback 2", "open api 1"])
        #expect(try uses { $0.source = .api } == ["click api 5", "open api 1"])
        #expect(try uses { $0.source = .postback } == ["click postback 2"])
        let lines = try database.details(.push).table.lines()
        #expect(
            lines.contains { $0.contains("source") } && lines.contains { $0.contains("postback") })
    }

    @Test("D66: the view details says where a hit came from, as the server wrote it last")
    func view() async throws {
        let database = try await Self.database()
        var forged = TestEvents.action(.click, id: 7)
        forged.source = .postback
        try await database.deliver([forged])
        #expect(try Self.sources(in: database) == ["api 7", "postback 2"])
    }

    /// The view's hits by their source.
    private static func sources(in database: HitsDatabase) throws -> [String] {
        try database.open(readonly: true).read { database in
            try Row.fetchAll(
                database, sql: "SELECT source, count(*) AS n FROM details GROUP BY 1 ORDER BY 1"
            ).map { "\($0["source"] as String) \($0["n"] as Int)" }
        }
    }
}
