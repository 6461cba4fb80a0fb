// The days of hits.db: what is kept, and what is dropped.
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

final class HitPartitionsTests: Sendable {
    private let directory: TemporaryDirectory
    private let today = Mutex(0)
    private static let day: Int64 = 86_400_000_000

    init() throws { self.directory = try TemporaryDirectory() }

    private func rows(_ sql: String) throws -> [Row] {
        try DatabaseQueue(inUse: self.directory.file("hits.db"))
            .read { try Row.fetchAll($0, sql: sql) }
    }

    private func days() throws -> [Int] {
        try self.rows("SELECT DISTINCT receive_time / \(Self.day) FROM hits ORDER BY 1")
            .map { $0[0] }
    }

    /// Delivers a hit on each of these days.
    private func deliver(_ days: [Int], to sink: SQLiteSink) async throws {
        for day in days {
            self.today.withLock { $0 = day }
            let batch = try TestHits.batch(
                [TestEvents.full(id: day)], sequence: Int64(day), at: Int64(day) * Self.day)
            #expect(await sink.deliver(batch) == .delivered)
        }
    }

    private func sink(
        retention: RetentionClock = RetentionClock(.days, settling: .zero),
        _ change: (inout SQLiteConfiguration) -> Void = { _ in }
    ) throws -> SQLiteSink {
        var configuration = SQLiteConfiguration()
        change(&configuration)
        return try SQLiteSink(
            path: self.directory.file("hits.db"), configuration,
            today: { self.today.withLock { $0 } }, retention: retention)
    }

    @Test(
        "hits go once their day is `retain_days` ago, and 0 keeps them",
        arguments: [(0, [100, 101, 102, 103]), (4, [100, 101, 102, 103]), (3, [101, 102, 103])])
    func retention(days: Int, left: [Int]) async throws {
        let sink = try self.sink { $0.retainDays = days }
        try await self.deliver([100, 101, 102, 103], to: sink)
        #expect(try self.days() == left)
        #expect(try self.rows("SELECT sum(hits) FROM counts")[0][0] == 4, "counts stay")
    }

    @Test("what retention has deleted may stand in free pages, and an erasure says so")
    func erasure() async throws {
        let sink = try self.sink { $0.retainDays = 3 }
        try await self.deliver([100, 101, 102], to: sink)
        let first = Subject(tenant: "default", ids: ["subject-102"])
        #expect(await sink.erase(first).end() == .erased(1), "nothing was dropped yet")
        try await self.deliver([103], to: sink)
        #expect(try self.days() == [101, 103])
        let erasure = await sink.erase(Subject(tenant: "default", ids: ["subject-103"])).end()
        #expect(erasure.outcome == .erased && erasure.count == 1)
        #expect(erasure.reason.contains("free pages"), "\(erasure.reason)")
    }

    @Test("a clock that is years ahead for some batches drops nothing, also in a new process")
    func wrongClock() async throws {
        var sequence: Int64 = 0
        for days in [[100, 101, 102], [9000, 9001], [9002, 9003, 9004], [103]] {
            let sink = try self.sink(retention: RetentionClock(.days)) { $0.retainDays = 3 }
            for day in days {
                self.today.withLock { $0 = day }
                sequence += 1
                let batch = try TestHits.batch(
                    [TestEvents.full(id: day)], sequence: sequence, at: Int64(day) * Self.day)
                #expect(await sink.deliver(batch) == .delivered)
            }
        }
        let left = [101, 102, 103] + Array(9000...9004)
        #expect(try self.days() == left, "the day 100 is three days before 103")
    }

    @Test(
        "facts count once that come again after a clock was wrong for an event or a start",
        arguments: [40, -1825], [false, true])
    func wrongClockAndFacts(days: Int, isRestarted: Bool) async throws {
        func open() throws -> SQLiteSink {
            try self.sink(retention: RetentionClock(.days)) { $0.retainDays = 0 }
        }
        var sink = try open()
        let (right, wrong) = (2000, 2000 + days)
        let events = [(right, 1), (wrong, 2), (wrong, 1), (right, 1), (right, 2), (right + 1, 1)]
        for (sequence, (day, id)) in events.enumerated() {
            self.today.withLock { $0 = day }
            if isRestarted { sink = try open() }
            let batch = try TestHits.batch(
                [TestEvents.full(id: id)], sequence: Int64(sequence + 1),
                at: Int64(day) * Self.day)
            #expect(await sink.deliver(batch) == .delivered)
        }
        #expect(try self.rows("SELECT sum(hits) FROM counts")[0][0] == 2)
    }

    @Test("a fact counts once that came in a start years behind, after a row of that day")
    func wrongStarts() async throws {
        for (sequence, (day, id)) in [(2000, 1), (175, 2), (175, 3), (2001, 3)].enumerated() {
            self.today.withLock { $0 = day }
            // The last process has the right clock for long enough to believe it.
            let settling = day == 2001 ? Duration.zero : .seconds(3600)
            let sink = try self.sink(retention: RetentionClock(.days, settling: settling)) {
                $0.retainDays = 0
            }
            let batch = try TestHits.batch(
                [TestEvents.full(id: id)], sequence: Int64(sequence + 1),
                at: Int64(day) * Self.day)
            #expect(await sink.deliver(batch) == .delivered)
        }
        #expect(try self.rows("SELECT sum(hits) FROM counts")[0][0] == 3)
    }

    @Test("after a gap of days a restart knows all facts still")
    func gapAndFacts() async throws {
        for (sequence, (day, id)) in [(100, 1), (140, 2), (141, 2)].enumerated() {
            self.today.withLock { $0 = day }
            // The first process has run through the gap, and the second begins with a doubt.
            let settling = day < 141 ? Duration.zero : .seconds(3600)
            let retention = RetentionClock(.days, settling: settling)
            let sink = try self.sink(retention: retention) { $0.uniqueDays = 30 }
            let batch = try TestHits.batch(
                [TestEvents.full(id: id)], sequence: Int64(sequence + 1),
                at: Int64(day) * Self.day)
            #expect(await sink.deliver(batch) == .delivered)
        }
        #expect(try self.days() == [100, 140])
    }

    @Test(
        "a partition is read before it is dropped, a share with each batch",
        arguments: [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3)])
    func readAhead(rows: Int, batches: Int) throws {
        let database = try DatabaseQueue()
        try database.write { database in
            try SQLiteSink.format.create(database)
            // With ids as erasures leave them.
            try database.execute(
                sql: """
                    CREATE TABLE hits_1 (id INTEGER PRIMARY KEY);
                    CREATE TABLE hits_2 (id INTEGER PRIMARY KEY);
                    """)
            for id in 0..<rows {
                try database.execute(sql: "INSERT INTO hits_1 VALUES (\(id * 7 + 1))")
            }
            var readAhead = PartitionReadAhead(shareRows: 2)
            let partitions = [1, 2].map { HitPartitions.Partition(id: $0, day: 1, hits: rows) }
            let isDone = try (0..<batches).map { _ in
                try readAhead.read(partitions[0], in: database)
            }
            #expect(isDone == Array(repeating: false, count: batches - 1) + [true])
            #expect(
                try readAhead.read(partitions[1], in: database), "another partition begins anew")
        }
    }

    @Test("a late hit of a day long ago goes with the next batch")
    func lateHit() async throws {
        let sink = try self.sink { $0.retainDays = 3 }
        try await self.deliver([103], to: sink)
        let late = try TestHits.batch([TestEvents.full(id: 1)], sequence: 104, at: 5 * Self.day)
        #expect(await sink.deliver(late) == .delivered)
        #expect(try self.days() == [5, 103], "the newest partition stays")
        try await self.deliver([105], to: sink)
        #expect(try self.days() == [103, 105])
    }

    @Test("a file that is too large loses its oldest day with each batch, but never the newest")
    func size() async throws {
        try await self.deliver([100, 101], to: try self.sink { $0.maxBytes = 0 })
        #expect(try self.days() == [100, 101])
        let bytes = try await DatabaseQueue(inUse: self.directory.file("hits.db")).read {
            try HitsSize.bytes(of: $0)
        }
        // A day of one hit takes a page, and there is room for none more.
        let sink = try self.sink { $0.maxBytes = bytes }
        try await self.deliver([102], to: sink)
        #expect(try self.days() == [101, 102])
        let tiny = try self.sink { $0.maxBytes = 1 }
        try await self.deliver([103], to: tiny)
        #expect(try self.days() == [102, 103])
        try await self.deliver([104], to: tiny)
        #expect(try self.days() == [103, 104])
    }

    @Test("a busy day has several partitions, the last of them with room")
    func severalPartitions() throws {
        let database = try DatabaseQueue()
        try database.write { database in
            try SQLiteSink.format.create(database)
            var partitions = try HitPartitions(in: database, maxHits: 2)
            let ids = try (0..<5).map { _ in try partitions.newRow(on: 7, in: database).id }
            #expect(ids == [1, 2, 3, 4, 5])
            try partitions.finish(in: database)
            #expect(partitions.all.map(\.hits) == [2, 2, 1])
            #expect(try HitPartitions(in: database, maxHits: 2).all.map(\.hits) == [2, 2, 1])
            #expect(try partitions.newRow(on: 6, in: database).id == 6)
            #expect(try partitions.newRow(on: 7, in: database).id == 7)
            #expect(partitions.all.map(\.day) == [7, 7, 7, 6])
        }
    }

    @Test("with too many partitions for a view, the newest takes further days, and late hits")
    func manyPartitions() throws {
        let database = try DatabaseQueue()
        try database.write { database in
            try SQLiteSink.format.create(database)
            var partitions = try HitPartitions(in: database, maxHits: 2, maxPartitions: 3)
            for day: Int64 in [1, 2, 3, 3, 3, 4, 2, 2, 5] {
                _ = try partitions.newRow(on: day, in: database)
            }
            try partitions.finish(in: database)
            let stored = try HitPartitions(in: database, maxHits: 2, maxPartitions: 3)
            #expect(stored.all.map(\.day) == [1, 2, 5])
            #expect(stored.all.map(\.hits) == [1, 1, 7])
            #expect(try partitions.dropOldest(in: database)?.day == 1)
            _ = try partitions.newRow(on: 6, in: database)
            #expect(partitions.all.map(\.day) == [2, 5, 6])
        }
    }

    @Test("a view joins as many partitions as there may be, and SQLite takes no more than 500")
    func viewOfManyPartitions() throws {
        let database = try DatabaseQueue()
        try database.write { database in
            try SQLiteSink.format.create(database)
            var partitions = try HitPartitions(in: database)
            for day in 0..<Int64(HitPartitions.defaultMaxPartitions + 200) {
                _ = try partitions.newRow(on: day, in: database)
            }
            try partitions.finish(in: database)
            #expect(partitions.all.count == HitPartitions.defaultMaxPartitions)
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM hits") == 0)
        }
    }

    @Test("a fact that comes again on a later day counts once, until `unique_days` have gone by")
    func uniqueDays() async throws {
        let sink = try self.sink { $0.uniqueDays = 4 }
        for (sequence, (day, hits)) in [(100, 1), (101, 1), (104, 1), (106, 2)].enumerated() {
            self.today.withLock { $0 = day }
            let batch = try TestHits.batch(
                [TestEvents.full(id: 1)], sequence: Int64(sequence + 1), at: Int64(day) * Self.day)
            #expect(await sink.deliver(batch) == .delivered)
            #expect(try self.rows("SELECT 1 FROM hits").count == hits, "day \(day)")
        }
    }

    @Test("a dead letter from long ago makes no fact of today forgotten")
    func oldLetter() async throws {
        let sink = try self.sink()
        try await self.deliver([200], to: sink)
        let old = try TestHits.batch([TestEvents.full(id: 1)], sequence: 201, at: 5 * Self.day)
        #expect(await sink.deliver(old) == .delivered)
        let again = try TestHits.batch([TestEvents.full(id: 200)], sequence: 202)
        #expect(await sink.deliver(again) == .delivered)
        #expect(try self.rows("SELECT 1 FROM hits WHERE subject_id = 'subject-200'").count == 1)
    }

    @Test("ids go on after a restart, also where the newest hits are gone by hand")
    func ids() async throws {
        try await self.deliver([100, 101], to: try self.sink())
        try await self.deliver([102], to: try self.sink())
        #expect(try self.rows("SELECT rowid FROM hits ORDER BY rowid").map { $0[0] } == [1, 2, 3])
    }
}
