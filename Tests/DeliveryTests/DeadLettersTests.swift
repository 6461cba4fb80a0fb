// Permanently rejected hits: bounded, and stored once.
@testable internal import Delivery
internal import Foundation
internal import GRDB
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingJournal

struct DeadLettersTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private var path: String { self.directory.file("dead_letters.db") }

    private func sequences() throws -> [Int64] {
        try DatabaseQueue(inUse: self.path).read { database in
            try Int64.fetchAll(database, sql: "SELECT sequence FROM dead_letters ORDER BY rowid")
        }
    }

    @Test("at most max rows are kept; one beyond it, the oldest goes")
    func bounded() async throws {
        let letters = try DeadLetters(path: self.path, maxRows: 3)
        for sequence in 1...4 {
            let batch = try TestHits.batch(
                [TestEvents.full(id: sequence)], sequence: Int64(sequence))
            try await letters.keep(batch, reasons: [0: "no"], sink: "s")
            #expect(try self.sequences() == (max(1, sequence - 2)...sequence).map { Int64($0) })
        }
    }

    @Test(
        "a letter is replayed with its receive time, or with none if no number of ours holds it",
        arguments: [
            (0, 0), (1, 1), (9_223_372_036_854, 9_223_372_036_854), (9_223_372_036_855, 0),
            (.max, 0), (.min, 0),
        ] as [(Int64, Int64)])
    func receiveTime(_ seconds: Int64, _ replayed: Int64) throws {
        var record = try #require(TestHits.batch([TestEvents.full(id: 1)]).records.first)
        record.receiveTime = .with { $0.seconds = seconds }
        let payload = DeadLetter(id: 1, record: try record.serializedBytes()).payload()
        let batch = HitBatch(journal: "j", sequence: 1, payload: try #require(payload))
        #expect(try batch.records.map(\.receiveTime.seconds) == [replayed])
    }

    private func counts() throws -> [String?: Int] {
        try DatabaseQueue(inUse: self.path).read { database in
            let rows = try Row.fetchAll(
                database, sql: "SELECT tenant, count(*) FROM dead_letters GROUP BY tenant")
            return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] as String?, $0[1] as Int) })
        }
    }

    private func keep(
        _ count: Int, of tenant: String, in letters: DeadLetters, sequence: Int64
    ) async throws {
        let events = (0..<count).map { TestEvents.full(id: $0) }
        let batch = try TestHits.batch(events, sequence: sequence, tenant: tenant)
        let reasons = Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, "no") })
        try await letters.keep(batch, reasons: reasons, sink: "s")
    }

    @Test("a tenant with many letters pushes out no other's")
    func tenants() async throws {
        // The file of a build that evicted the oldest, whoever's they were.
        for isOlder in [false, true] {
            let letters = try DeadLetters(path: self.path, maxRows: 12)
            if isOlder {
                try await DatabaseQueue(inUse: self.path).write {
                    try $0.execute(sql: "DROP INDEX letters_of_tenant; DELETE FROM dead_letters")
                }
            }
            let damaged = JournalBatch(
                sequence: 1, eventCount: 1, payload: [1],
                loss: LostRecords(sequences: 1...1, eventCount: 1))
            try await letters.keep(damaged: damaged, of: "j", sink: "s")
            try await self.keep(2, of: "quiet", in: letters, sequence: 2)
            for sequence in Int64(3)...5 {
                try await self.keep(8, of: "loud", in: letters, sequence: sequence)
            }
            #expect(try self.counts() == [nil: 1, "quiet": 2, "loud": 9])
            // The newest stay, and of the group before them one.
            #expect(try self.sequences().suffix(9) == [4] + Array(repeating: 5, count: 8))
            // Another one gets its part of what the loud one has.
            try await self.keep(8, of: "late", in: letters, sequence: 6)
            #expect(try self.counts() == [nil: 1, "quiet": 2, "late": 4, "loud": 5])
        }
    }

    @Test("a letter that was replayed makes room: none goes before there are too many")
    func gaps() async throws {
        let letters = try DeadLetters(path: self.path, maxRows: 3)
        for sequence in 1...5 {
            let batch = try TestHits.batch(
                [TestEvents.full(id: sequence)], sequence: Int64(sequence))
            try await letters.keep(batch, reasons: [0: "no"], sink: "s")
            if sequence == 3 {
                try await DatabaseQueue(inUse: self.path).write {
                    try $0.execute(sql: "DELETE FROM dead_letters WHERE sequence = 2")
                }
            }
            if sequence == 4 { #expect(try self.sequences() == [1, 3, 4]) }
        }
        #expect(try self.sequences() == [3, 4, 5])
    }

    @Test("the row id of a letter that is gone is not used again: who follows them sees each")
    func ids() async throws {
        let letters = try DeadLetters(path: self.path)
        var last: Int64 = 0
        for sequence in 1...3 {
            let batch = try TestHits.batch(
                [TestEvents.push(.opened, id: sequence)], sequence: Int64(sequence))
            try await letters.keep(batch, reasons: [0: "no", 1: "no"], sink: "s")
            let ids = try await DatabaseQueue(inUse: self.path).write { database in
                defer { _ = try? database.execute(sql: "DELETE FROM dead_letters") }
                return try Int64.fetchAll(database, sql: "SELECT rowid FROM dead_letters")
            }
            #expect(ids.count == 2 && ids.allSatisfy { $0 > last }, "\(ids) after \(last)")
            last = ids.max() ?? last
        }
    }

    @Test("a reason is kept whole, also behind a zero byte")
    func zeroByte() async throws {
        let letters = try DeadLetters(path: self.path)
        let batch = try TestHits.batch([TestEvents.full(id: 1)], sequence: 1)
        try await letters.keep(batch, reasons: [0: "no\0t you"], sink: "s")
        let reasons = try await DatabaseQueue(inUse: self.path).read {
            try Data.fetchAll($0, sql: "SELECT CAST(reason AS BLOB) FROM dead_letters")
        }
        #expect(reasons.map { String(decoding: $0, as: UTF8.self) } == ["no\0t you"])
    }

    @Test("a batch that comes again is kept once, for each sink")
    func twice() async throws {
        let letters = try DeadLetters(path: self.path)
        let batch = try TestHits.batch([TestEvents.push(.opened, id: 1)], sequence: 7)
        for sink in ["a", "a", "b"] {
            try await letters.keep(batch, reasons: [0: "no", 1: "no"], sink: sink)
        }
        #expect(try self.sequences() == [7, 7, 7, 7])
        let damaged = JournalBatch(
            sequence: 8, eventCount: 1, payload: [1],
            loss: LostRecords(sequences: 8...8, eventCount: 1))
        for _ in 0..<2 { try await letters.keep(damaged: damaged, of: "j", sink: "a") }
        #expect(try self.sequences() == [7, 7, 7, 7, 8])
    }

    @Test("a batch that comes again in a full file moves nothing else out")
    func twiceInFullFile() async throws {
        let letters = try DeadLetters(path: self.path, maxRows: 2)
        for sequence in [Int64(1), 2, 2, 2] {
            let batch = try TestHits.batch([TestEvents.full(id: 1)], sequence: sequence)
            try await letters.keep(batch, reasons: [0: "no"], sink: "a")
        }
        #expect(try self.sequences() == [1, 2])
    }

    @Test("another journal has the same sequences, and its batches are kept beside the first's")
    func journals() async throws {
        let letters = try DeadLetters(path: self.path)
        let damaged = JournalBatch(
            sequence: 7, eventCount: 1, payload: [1],
            loss: LostRecords(sequences: 8...8, eventCount: 1))
        for journal in ["first", "second", "second"] {
            let batch = try TestHits.batch([TestEvents.full(id: 1)], sequence: 7, journal: journal)
            try await letters.keep(batch, reasons: [0: "no"], sink: "a")
            try await letters.keep(damaged: damaged, of: journal, sink: "a")
        }
        #expect(try self.sequences() == [7, 7, 7, 7])
        let journals = try await DatabaseQueue(inUse: self.path).read {
            try String.fetchAll($0, sql: "SELECT journal FROM dead_letters ORDER BY rowid")
        }
        #expect(journals == ["first", "first", "second", "second"])
    }

    @Test("a batch that was damaged once and can be read again keeps its first hit, too")
    func readableAgain() async throws {
        let letters = try DeadLetters(path: self.path)
        let batch = try TestHits.batch([TestEvents.full(id: 1)], sequence: 7)
        let damaged = JournalBatch(
            sequence: 7, eventCount: 1, payload: [],
            loss: LostRecords(sequences: 8...8, eventCount: 1))
        try await letters.keep(damaged: damaged, of: "j", sink: "a")
        try await letters.keep(batch, reasons: [0: "no"], sink: "a")
        #expect(try self.sequences() == [7, 7])
    }

    @Test("a damaged batch says which sequences it stands for, and how many events")
    func reason() async throws {
        let letters = try DeadLetters(path: self.path)
        let damaged = JournalBatch(
            sequence: 7, eventCount: 3, payload: [1],
            loss: LostRecords(sequences: 5...7, eventCount: 3))
        try await letters.keep(damaged: damaged, of: "j", sink: "a")
        let reason = try await DatabaseQueue(inUse: self.path).read {
            try String.fetchOne($0, sql: "SELECT reason FROM dead_letters")
        }
        #expect(reason == "damaged: sequences 5 to 7 of the journal, 3 events")
    }
}
