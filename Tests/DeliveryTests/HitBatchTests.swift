// Batches of several groups.
internal import Delivery
internal import GRDB
internal import SQLiteSink
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules

struct HitBatchTests {
    /// Groups of an opened notification each, which is two hits; the third has two of them.
    private func groups() throws -> [HitBatch] {
        try [[1], [2], [3, 4], [5]].enumerated().map { index, ids in
            try TestHits.batch(
                ids.map { TestEvents.push(.opened, id: $0) }, sequence: Int64(index + 11))
        }
    }

    @Test("joined groups have their hits in order, and each knows its own positions")
    func positions() throws {
        let batch = HitBatch(joining: try self.groups())
        #expect(batch.sequence == 14)
        #expect(batch.eventCount == 5)
        #expect(batch.hitCount == 10)
        #expect(batch.groups.map(\.sequence) == [11, 12, 13, 14])
        #expect(batch.groups.map(\.positions) == [0..<2, 2..<4, 4..<8, 8..<10])
        var seen: [Int] = []
        try batch.forEach { position, _ in seen.append(position) }
        #expect(seen == Array(0..<10))
        #expect(
            try batch.records.map(\.broadlogID)
                == ["h1", "h1", "h2", "h2", "h3", "h3", "h4", "h4", "h5", "h5"])
        #expect(batch.payload == (try self.groups()).flatMap(\.payload))
    }

    @Test(
        "a sink with a cursor of its own leaves out the groups up to it",
        arguments: [(0, 0), (10, 0), (11, 2), (13, 8), (14, 10), (20, 10)] as [(Int64, Int)])
    func after(_ row: (sequence: Int64, first: Int)) throws {
        let batch = HitBatch(joining: try self.groups())
        var seen: [Int] = []
        try batch.forEach(after: row.sequence) { position, _ in seen.append(position) }
        #expect(seen == Array(row.first..<10))
    }

    @Test("one group is a batch of its own, an empty one too")
    func single() throws {
        let batch = try TestHits.batch([TestEvents.push(.opened, id: 1)], sequence: 3)
        #expect(batch.groups.map(\.sequence) == [3])
        #expect(batch.groups.map(\.positions) == [0..<2])
        #expect(batch.eventCount == 1 && batch.hitCount == 2)
        let empty = HitBatch(journal: "j", sequence: 1, payload: [])
        #expect(empty.groups.count == 1 && empty.hitCount == 0)
    }

    @Test("D17: hits.db has the hits of joined groups once, of which some came before")
    func straddledCursor() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("hits.db")
        let sink = try SQLiteSink(path: path)
        func batch(_ id: Int, _ sequence: Int64) throws -> HitBatch {
            try TestHits.batch([TestEvents.full(id: id)], sequence: sequence)
        }
        for groups in [
            [try batch(1, 1), try batch(2, 2)],
            [try batch(1, 1), try batch(2, 2), try batch(3, 3)],
            [try batch(2, 2), try batch(3, 3)],
            [try batch(3, 3), try batch(4, 4), try batch(5, 6)],
        ] {
            #expect(await sink.deliver(HitBatch(joining: groups)) == .delivered)
        }
        let (subjects, cursor) = try await DatabaseQueue(inUse: path).read { database in
            (
                try String.fetchAll(database, sql: "SELECT subject_id FROM hits ORDER BY rowid"),
                try Int.fetchAll(database, sql: "SELECT sequence FROM cursor")
            )
        }
        #expect(subjects == (1...5).map { "subject-\($0)" })
        #expect(cursor == [6])
    }
}
