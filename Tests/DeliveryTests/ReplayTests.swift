// Replaying dead letters: nothing is changed, lost, or delivered twice.
@testable internal import Delivery
internal import Foundation
internal import GRDB
internal import SQLiteSink
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules

struct ReplayTests {
    private let directory: TemporaryDirectory
    private let letters: DeadLetters

    init() throws {
        self.directory = try TemporaryDirectory()
        self.letters = try DeadLetters(path: self.directory.file("dead_letters.db"))
    }

    /// Events that give one hit each.
    private static func events(_ ids: ClosedRange<Int>) -> [Sightline_V1_TrackingEvent] {
        ids.map { TestEvents.full(id: $0) }
    }

    private func keep(_ events: [Sightline_V1_TrackingEvent], sequence: Int64 = 1) async throws {
        let batch = try TestHits.batch(events, sequence: sequence, tracestate: "a=b")
        let count = try batch.records.count
        let reasons = Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, "too large") })
        try await self.letters.keep(batch, reasons: reasons, sink: "first")
    }

    private func kept(_ column: String) throws -> [String] {
        try DatabaseQueue(inUse: self.directory.file("dead_letters.db")).read { database in
            try String.fetchAll(
                database, sql: "SELECT \(column) FROM dead_letters ORDER BY rowid")
        }
    }

    @Test(
        "every hit comes back as it was refused, its event byte for byte, traced or not",
        arguments: [
            TestEvents.full(id: 1), TestEvents.push(.opened, id: 2, on: .ios),
            TestEvents.action(.button1, id: 3, product: .standard),
            TestEvents.action(.click, id: 4, product: .classic),
            .with { event in
                event.inApp.messageID = "welcome"
                event.inApp.click.actionURL = "app://sale"
                event.subjectID = "s"
                event.eventID = "e"
            },
        ], [true, false])
    func unchanged(_ event: Sightline_V1_TrackingEvent, isTraced: Bool) async throws {
        // An unknown field before all others, where no encoder would put it.
        let bytes: [UInt8] = [0xc2, 0x3e, 1, 7] + (try event.serializedBytes())
        let request = try TestHits.request(bytes: [bytes], tracestate: "a=b")
        if !isTraced { request.trace = nil }
        let batch = HitBatch(journal: "j", sequence: 1, payload: request.block)
        var refused: [[UInt8]] = []
        try batch.forEach { _, hit in refused.append(hit.recordBytes()) }
        try #require(!refused.isEmpty)
        try await self.letters.keep(
            batch, reasons: Dictionary(uniqueKeysWithValues: refused.indices.map { ($0, "no") }),
            sink: "first")
        let sink = RecordingSink()
        let counts = try await Replay(of: self.letters, refusedBy: "first", to: sink).run()
        #expect(counts.delivered == refused.count)
        var replayed: [[UInt8]] = []
        for batch in sink.batches {
            try batch.forEach { _, hit in
                #expect(Array(hit.event) == bytes)
                replayed.append(hit.recordBytes())
            }
        }
        #expect(replayed == refused)
    }

    @Test("what is taken is forgotten, what is refused again stays with its new reason")
    func partly() async throws {
        try await self.keep(Self.events(1...3))
        let sink = FailingSink([.rejected([1: "still too large"])])
        let counts = try await Replay(of: self.letters, refusedBy: "first", to: sink).run()
        #expect(counts == Replay.Counts(delivered: 2, refused: 1))
        #expect(try self.kept("reason") == ["still too large"])
    }

    @Test("what the sink cannot read at all is refused with its reason")
    func undeliverable() async throws {
        try await self.keep(Self.events(1...2))
        let sink = FailingSink([.unreadable(reason: "no protobuf")])
        let counts = try await Replay(of: self.letters, refusedBy: "first", to: sink).run()
        #expect(counts == Replay.Counts(refused: 2))
        #expect(try self.kept("reason") == ["no protobuf", "no protobuf"])
    }

    @Test("an unavailable sink ends the replay, and keeps what it has not taken")
    func interrupted() async throws {
        try await self.keep(Self.events(1...Replay.batchLetters))
        try await self.keep(Self.events(1001...1002), sequence: 2)
        let sink = FailingSink([.delivered, .unavailable(reason: "it is down")])
        let error = await #expect(throws: ReplayInterruption.self) {
            _ = try await Replay(of: self.letters, refusedBy: "first", to: sink).run()
        }
        #expect(error?.counts.delivered == Replay.batchLetters)
        #expect(error?.description.contains("it is down") == true)
        #expect(try self.kept("sequence") == ["2", "2"])
    }

    @Test("a server that stops ends the replay after the batch that is under way")
    func stopped() async throws {
        try await self.keep(Self.events(1...Replay.batchLetters + 1))
        let letters = self.letters
        let replay = Task {
            try await Replay(of: letters, refusedBy: "first", to: LastSink()).run()
        }
        let error = await #expect(throws: ReplayInterruption.self) { _ = try await replay.value }
        #expect(error?.counts.delivered == Replay.batchLetters)
        #expect(error?.description.contains("the server is stopping") == true)
        #expect(try self.kept("sequence").count == 1)
    }

    @Test("a sink that has lost what came before gets the batch again, but not for ever")
    func lost() async throws {
        try await self.keep(Self.events(1...1))
        let loss = SinkAnswer.dataLoss(reason: "the stream is new")
        await #expect(throws: ReplayInterruption.self) {
            let sink = FailingSink([loss, loss, loss])
            _ = try await Replay(of: self.letters, refusedBy: "first", to: sink).run()
        }
        let counts = try await Replay(
            of: self.letters, refusedBy: "first", to: FailingSink([loss, loss])
        ).run()
        #expect(counts.delivered == 1)
    }

    @Test("damaged batches and other sinks' letters are left as they are")
    func others() async throws {
        try await self.letters.keep(
            damaged: JournalBatch(
                sequence: 9, eventCount: 1, payload: [1, 2],
                loss: LostRecords(sequences: 9...9, eventCount: 1)),
            of: "j", sink: "first")
        try await self.keep(Self.events(1...1))
        try await self.letters.keep(
            try TestHits.batch(Self.events(2...2), sequence: 3), reasons: [0: "no"], sink: "other")
        let sink = RecordingSink()
        let counts = try await Replay(of: self.letters, refusedBy: "first", to: sink).run()
        #expect(counts == Replay.Counts(delivered: 1, unreadable: 1))
        #expect(try self.kept("sink || sequence") == ["first9", "other3"])
    }

    @Test("a limit takes so many of the oldest and no more", arguments: [1, 2, 100, 101, 102, 103])
    func limited(_ limit: Int) async throws {
        try await self.keep(Self.events(1...102))
        let sink = RecordingSink()
        let counts = try await Replay(of: self.letters, refusedBy: "first", to: sink)
            .run(limit: limit)
        #expect(counts.delivered == min(limit, 102))
        #expect(try self.kept("position") == (0..<102).dropFirst(limit).map(String.init))
        #expect(sink.batches.allSatisfy { ((try? $0.records.count) ?? 0) <= Replay.batchLetters })
    }

    @Test("hits.db has a hit once, also where it was delivered before its letter was forgotten")
    func exactlyOnce() async throws {
        let sink = try SQLiteSink(path: self.directory.file("hits.db"))
        for sequence in 1...2 {
            try await self.keep(Self.events(1...2), sequence: Int64(sequence))
            _ = try await Replay(of: self.letters, refusedBy: "first", to: sink).run()
        }
        let count = try await DatabaseQueue(inUse: self.directory.file("hits.db")).read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM hits")
        }
        #expect(count == 2)
    }
}
