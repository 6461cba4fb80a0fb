// Kept hits are delivered to a sink again.
@testable internal import Delivery
internal import GRDB
@testable internal import SQLiteSink
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

struct HitReplayTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private var path: String { self.directory.file("hits.db") }

    /// One page of each payload.
    private static func pages(_ batches: [HitBatch]) -> (Int64) -> HitPage? {
        { last in
            batches.first { $0.sequence > last }.map {
                HitPage(payload: $0.payload, last: $0.sequence)
            }
        }
    }

    @Test("a filter holds in a replay too, and what the sink refuses is counted")
    func counts() async throws {
        let batches = try (1...3).map {
            try TestHits.batch([TestEvents.push(.opened, id: $0)], sequence: Int64($0))
        }
        let filter = HitFilter(only: [.kind: ["open"]])
        let sink = FailingSink([.delivered, .rejected([0: "no"]), .unreadable(reason: "no")])
        let counts = try await HitReplay(to: sink, filter: filter).run([Self.pages(batches)])
        // Each event is a click too.
        #expect(counts == HitReplay.Counts(delivered: 1, refused: 2, filtered: 3))
    }

    @Test("a page of which the filter leaves nothing is not brought to the sink")
    func nothingLeft() async throws {
        let batches = try (1...2).map {
            try TestHits.batch([TestEvents.push(.opened, id: $0)], sequence: Int64($0))
        }
        let sink = RecordingSink()
        let filter = HitFilter(only: [.delivery: ["another"]])
        let counts = try await HitReplay(to: sink, filter: filter).run([Self.pages(batches)])
        #expect(sink.batches.isEmpty)
        #expect(counts == HitReplay.Counts(filtered: 4) && !counts.isEmpty)
    }

    @Test("a replay of what is not kept says that nothing was there")
    func nothingKept() async throws {
        let counts = try await HitReplay(to: RecordingSink(), filter: nil).run([Self.pages([])])
        #expect(counts.isEmpty)
    }

    @Test(
        "a sink that is unavailable ends a replay, which says how far it came",
        arguments: [SinkAnswer.unavailable(reason: "down"), .dataLoss(reason: "down")])
    func interruption(_ answer: SinkAnswer) async throws {
        let batches = try (1...2).map {
            try TestHits.batch([TestEvents.full(id: $0)], sequence: Int64($0))
        }
        let sink = FailingSink([.delivered, answer])
        let error = await #expect(throws: HitReplayInterruption.self) {
            try await HitReplay(to: sink, filter: nil).run([Self.pages(batches)])
        }
        #expect(error?.counts.delivered == 1)
        #expect(error.map { "\($0)" }?.contains("failing stopped: down. 1 hits") == true)
    }

    @Test("what hits.db keeps since a time comes back as it was, and nothing that comes meanwhile")
    func stored() async throws {
        let sink = try SQLiteSink(path: self.path)
        var sent: [Sightline_V1_TrackingRecord] = []
        for sequence in 1...5 {
            let batch = try TestHits.batch(
                [
                    TestEvents.full(id: sequence * 10), TestEvents.push(.opened, id: sequence),
                    TestEvents.action(.button2, id: sequence, product: .standard),
                ], sequence: Int64(sequence), tracestate: "a=b", tenant: "acme",
                at: TestHits.receiveTime + Int64(sequence))
            #expect(await sink.deliver(batch) == .delivered)
            sent += try batch.records
        }
        let hits = try StoredHits(path: self.path, journal: "j")
        #expect(hits.newestGroup == 5)
        let last = try TestHits.batch([TestEvents.full(id: 1000)], sequence: 7)
        let later = try TestHits.batch([TestEvents.full(id: 999)], sequence: 6)
        #expect(await sink.deliver(later) == .delivered)
        let since = TestHits.receiveTime + 3
        let recording = RecordingSink()
        let counts = try await HitReplay(to: recording, filter: nil).run([
            { try await hits.page(since: since, after: $0) }, Self.pages([last]),
        ])
        let expected = try sent.suffix(from: sent.count / 5 * 2) + last.records
        let found = try recording.batches.flatMap { try $0.records }
        #expect(found.sorted(by: Self.before) == expected.sorted(by: Self.before))
        #expect(counts.delivered == expected.count && counts.refused == 0)
    }

    private static func before(
        _ left: Sightline_V1_TrackingRecord, _ right: Sightline_V1_TrackingRecord
    ) -> Bool {
        left.hitID.lexicographicallyPrecedes(right.hitID)
    }

    @Test("a server that stops ends the replay after the page that is under way")
    func stopped() async throws {
        let batches = try (1...3).map {
            try TestHits.batch([TestEvents.full(id: $0)], sequence: Int64($0))
        }
        let replay = Task {
            try await HitReplay(to: LastSink(), filter: nil).run([{ Self.pages(batches)($0) }])
        }
        let error = await #expect(throws: HitReplayInterruption.self) {
            _ = try await replay.value
        }
        #expect(error?.counts.delivered == 1)
        #expect(error?.description.contains("the server is stopping") == true)
    }

    @Test("a page ends with its rows, and the pages together have every row once")
    func pages() async throws {
        let sink = try SQLiteSink(path: self.path)
        for sequence in 1...5 {
            let events = (1...500).map { TestEvents.full(id: sequence * 1000 + $0) }
            let batch = try TestHits.batch(events, sequence: Int64(sequence))
            #expect(await sink.deliver(batch) == .delivered)
        }
        let hits = try StoredHits(path: self.path, journal: "another")
        #expect(hits.newestGroup == 0)
        let recording = RecordingSink()
        let counts = try await HitReplay(to: recording, filter: nil).run([
            { try await hits.page(since: 0, after: $0) }
        ])
        #expect(recording.batches.map(\.hitCount) == [1000, 1000, 500])
        let ids = try recording.batches.flatMap { try $0.records.map(\.hitID) }
        #expect(Set(ids).count == counts.delivered && counts.delivered == 2500)
    }

    @Test("rows that an erasure has overwritten are passed over, also those of a deleted event")
    func erased() async throws {
        let sink = try SQLiteSink(path: self.path)
        // Of each event a click and an open, and the second row refers to the event of the first.
        let events = (1...601).map { number in
            var event = TestEvents.opened(id: number)
            event.subjectID = number == 601 ? "another" : "gone"
            return event
        }
        #expect(await sink.deliver(try TestHits.batch(events)) == .delivered)
        var configuration = Configuration()
        configuration.busyMode = .timeout(30)
        let database = try DatabaseQueue(path: self.path, configuration: configuration)
        // As a crash may leave it.
        try await database.write { database in
            var erasure = HitErasure(of: Subject(tenant: "default", ids: ["gone"]))
            while case .overwriting(let place) = erasure.phase {
                try erasure.overwrite(before: place, in: database)
            }
            #expect(erasure.erased == 1200)
            #expect(try HitErasure.delete(before: .end, in: database).deleted == [1: 500])
        }
        let hits = try StoredHits(path: self.path, journal: "another")
        let recording = RecordingSink()
        let counts = try await HitReplay(to: recording, filter: nil).run([
            { try await hits.page(since: 0, after: $0) }
        ])
        #expect(counts.delivered == 2)
        let subjects = try recording.batches.flatMap { try $0.records.map(\.event.subjectID) }
        #expect(subjects == ["another", "another"])
    }
}
