// What a replay reads from hits.db: each row once, and no partition that it takes no row from.
internal import Foundation
internal import GRDB
internal import GRDBSQLite
@testable internal import SQLiteSink
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import Synchronization
internal import TestSupport
internal import Testing

struct StoredHitsTests {
    private let directory: TemporaryDirectory
    private static let day: Int64 = 86_400_000_000

    init() throws { self.directory = try TemporaryDirectory() }

    private func path(_ name: String = "hits") -> String { self.directory.file("\(name).db") }

    private func sink(_ name: String = "hits") throws -> SQLiteSink {
        var configuration = SQLiteConfiguration()
        configuration.retainDays = 0
        return try SQLiteSink(path: self.path(name), configuration)
    }

    /// The hit ids of all pages since a time.
    private func replayed(since: Int64, after first: Int64 = 0) async throws -> [Data] {
        let hits = try StoredHits(path: self.path(), journal: "j")
        var (ids, place) = ([Data](), first)
        while let page = try await hits.page(since: since, after: place) {
            #expect(page.unreadable == 0 && page.last > place)
            place = page.last
            let batch = HitBatch(journal: "r", sequence: 1, payload: page.payload)
            ids += try batch.records.map(\.hitID)
        }
        return ids
    }

    @Test("a replay has every hit since a time once, by day and then by row, late ones too")
    func order() async throws {
        var dice = Dice(seed: Dice.runSeed)
        let sink = try self.sink()
        for sequence in 1...120 {
            // Most on the newest day, and some late.
            let day = dice.chance(30) ? dice.below(12) : sequence / 10
            let events = (0..<dice.below(30)).map {
                TestEvents.push(.opened, id: sequence * 100 + $0)
            }
            guard !events.isEmpty else { continue }
            let batch = try TestHits.batch(
                events, sequence: Int64(sequence),
                at: Int64(100 + day) * Self.day + Int64(dice.below(1000)))
            #expect(await sink.deliver(batch) == .delivered)
        }
        let rows = try await DatabaseQueue(inUse: self.path()).read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT hit_id, receive_time FROM hits
                    ORDER BY receive_time / \(Self.day), rowid
                    """
            ).map { (id: $0["hit_id"] as Data, time: $0["receive_time"] as Int64) }
        }
        for since in [0, 105 * Self.day, 106 * Self.day + 500, 200 * Self.day] {
            let expected = rows.filter { $0.time >= since }.map(\.id)
            #expect(try await self.replayed(since: since) == expected, "seed \(Dice.runSeed)")
        }
    }

    @Test("a day that retention drops during a replay is passed over")
    func dropped() async throws {
        let sink = try self.sink()
        for day in 1...3 {
            let batch = try TestHits.batch(
                [TestEvents.full(id: day)], sequence: Int64(day), at: Int64(day) * Self.day)
            #expect(await sink.deliver(batch) == .delivered)
        }
        let hits = try StoredHits(path: self.path(), journal: "j")
        try await DatabaseQueue(inUse: self.path()).write {
            try $0.execute(sql: "DROP TABLE hits_2; DELETE FROM partitions WHERE id = 2")
        }
        let page = try #require(try await hits.page(since: 0, after: 0))
        let batch = HitBatch(journal: "r", sequence: 1, payload: page.payload)
        #expect(try batch.records.map(\.event.subjectID) == ["subject-1", "subject-3"])
        #expect(try await hits.page(since: 0, after: page.last) == nil)
    }

    /// What SQLite's statements cost: to compile, which their size tells, and to run.
    private final class Costs: Sendable {
        /// Of the largest statement.
        let bytes = Atomic(0)
        let steps = Atomic(0)

        func add(_ statement: OpaquePointer) {
            let bytes = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_MEMUSED, 0)
            let steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1)
            self.bytes.max(Int(bytes), ordering: .relaxed)
            self.steps.wrappingAdd(Int(steps), ordering: .relaxed)
        }
    }

    private static func count(_ costs: Costs, of hits: StoredHits) throws {
        try hits.database.read { database in
            _ = sqlite3_trace_v2(
                database.sqliteConnection, UInt32(SQLITE_TRACE_PROFILE),
                { _, costs, statement, _ in
                    if let costs, let statement {
                        Unmanaged<Costs>.fromOpaque(costs).takeUnretainedValue()
                            .add(OpaquePointer(statement))
                    }
                    return 0
                }, Unmanaged.passUnretained(costs).toOpaque())
        }
    }

    @Test("a page costs what its rows cost, in however many partitions hits.db has them")
    func cost() async throws {
        // They outlive the connections that count with them.
        let costs = ["few": Costs(), "many": Costs()]
        for (name, days) in [("few", 2), ("many", 200)] {
            let sink = try self.sink(name)
            for day in 1...days {
                let events = (0..<(600 / days)).map { TestEvents.full(id: day * 1000 + $0) }
                let batch = try TestHits.batch(
                    events, sequence: Int64(day), at: Int64(day) * Self.day)
                #expect(await sink.deliver(batch) == .delivered)
            }
            let hits = try StoredHits(path: self.path(name), journal: "j")
            try Self.count(try #require(costs[name]), of: hits)
            let page = try #require(try await hits.page(since: 0, after: 0))
            let batch = HitBatch(journal: "r", sequence: 1, payload: page.payload)
            #expect(batch.hitCount == 600)
        }
        withExtendedLifetime(costs) {}
        let few = try #require(costs["few"])
        let many = try #require(costs["many"])
        let steps = [few, many].map { $0.steps.load(ordering: .relaxed) }
        #expect(steps[0] > 0 && steps[1] < 4 * steps[0], "\(steps)")
        // The view joined all partitions in one statement, which SQLite compiles in the square of
        // their number, and which takes it longer than to run.
        let bytes = [few, many].map { $0.bytes.load(ordering: .relaxed) }
        #expect(bytes[0] > 0 && bytes[1] < 2 * bytes[0], "\(bytes)")
    }
}
