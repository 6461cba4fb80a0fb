// What is delivered of those who were forgotten, and what of them is in dead letters.
@testable internal import Delivery
internal import Foundation
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
internal import Storage
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TrackingRules
internal import WireFormat

struct ForgottenSubjectsTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private static let gone = Subject(tenant: "default", ids: ["subject-1"])

    /// Keeps what it gets.
    private final class KeepingSink: Sink {
        let name = "keeping"
        private let batches = Mutex<[HitBatch]>([])

        var records: [Sightline_V1_TrackingRecord] {
            get throws { try self.batches.withLock { $0 }.flatMap { try $0.records } }
        }

        func deliver(_ hits: HitBatch) async -> SinkAnswer {
            self.batches.withLock { $0.append(hits) }
            return .delivered
        }
    }

    @Test("a batch has the same hits in the same places, but no subject that was forgotten")
    func masked() async throws {
        let events = (1...3).map(TestEvents.full)
        for tenant in ["default", "another"] {
            let batch = try TestHits.batch(events, tenant: tenant)
            let sink = KeepingSink()
            #expect(
                await SerializedSink(sink, forgotten: .of(Self.gone)).deliver(batch) == .delivered
            )
            #expect(await SerializedSink(sink).replayed.deliver(batch) == .delivered)
            let records = try sink.records
            let subjects = records.map(\.event.subjectID)
            let first = tenant == "default" ? "" : "subject-1"
            #expect(
                subjects == [first, "subject-2", "subject-3"] + (1...3).map { "subject-\($0)" })
            #expect(records[..<3].map(\.hitID) == records[3...].map(\.hitID))
            #expect(records[1...2] == records[4...5])
        }
    }

    @Test("an event without a subject is nobody's, even if an empty id was forgotten")
    func emptyID() {
        let forgotten = ForgottenSubjects(key: [7])
        forgotten.insert(forgotten.hashes(of: Subject(tenant: "default", ids: ["", "a"])))
        for (id, isForgotten) in [("", false), ("a", true), ("b", false)] {
            let answer = "default".withBytes { tenant in
                id.withBytes { forgotten.contains($0, tenant: tenant) }
            }
            #expect(answer == isForgotten, "\(id)")
        }
    }

    @Test("a batch that cannot be read is not delivered, as without anybody who was forgotten")
    func broken() async throws {
        let events = [TestEvents.full(id: 1), TestEvents.full(id: 2)]
        let batch = HitBatch(try TestHits.requestWithBrokenIndex(events, broken: 0))
        let serialized = SerializedSink(KeepingSink(), forgotten: .of(Self.gone))
        guard case .unreadable = await serialized.deliver(batch) else {
            Issue.record("it was delivered")
            return
        }
    }

    @Test("dead letters of a forgotten subject go with their bytes, and later ones have no subject")
    func deadLetters() async throws {
        let forgotten = ForgottenSubjects(key: [7])
        let letters = try DeadLetters(
            path: self.directory.file("dead_letters.db"), forgotten: forgotten)
        let batch = try TestHits.batch((1...3).map(TestEvents.full))
        let reasons = Dictionary(uniqueKeysWithValues: (0..<3).map { ($0, "no") })
        try await letters.keep(batch, reasons: reasons, sink: "s")
        #expect(try !self.directory.files(holding: "subject-1").isEmpty)
        forgotten.insert(forgotten.hashes(of: Self.gone))
        #expect(await letters.erase(Self.gone).end() == .erased(1))
        #expect(try self.directory.files(holding: "subject-1") == [])
        #expect(await letters.erase(Self.gone).end() == .erased(0))
        try await letters.keep(batch, reasons: reasons, sink: "other")
        _ = try await letters.keep(unreadable: batch, reason: "no", sink: "third")
        #expect(try self.directory.files(holding: "subject-1") == [])
        #expect(try await letters.letters(of: "other", after: 0, limit: 9).count == 3)
        #expect(try await letters.letters(of: "third", after: 0, limit: 9).count == 3)
        #expect(try !self.directory.files(holding: "subject-2").isEmpty)
    }

    @Test("letters that come while others are searched keep no erasure from its end")
    func meanwhile() async throws {
        let letters = try DeadLetters(
            path: self.directory.file("dead_letters.db"), forgotten: .of(Self.gone))
        let batch = try TestHits.batch([TestEvents.full(id: 2)])
        try await letters.keep(batch, reasons: [0: "no"], sink: "s")
        var pieces = 1
        let erasure = try await letters.erase(Self.gone).end { count in
            pieces = count + 1
            if count < 9 { try await letters.keep(batch, reasons: [0: "no"], sink: "s\(count)") }
        }
        #expect(erasure == .erased(0))
        // The letter that was there, none before it, and the file's log.
        #expect(pieces == 3)
    }

    @Test("a reason that is older than a forgetting names nobody who was forgotten")
    func olderReasons() async throws {
        let letters = try DeadLetters(
            path: self.directory.file("dead_letters.db"), forgotten: .of(Self.gone))
        let batch = try TestHits.batch((1...2).map(TestEvents.full))
        let reasons = [0: "no such person: subject-1", 1: "subject-2 came after subject-1"]
        try await letters.keep(batch, reasons: reasons, sink: "s")
        #expect(try self.directory.files(holding: "subject-1") == [])
        #expect(try !self.directory.files(holding: "subject-2 came after *********").isEmpty)
    }

    @Test("a replay's reason that is older than a forgetting names nobody who was forgotten")
    func olderReasonsOfReplay() async throws {
        let forgotten = ForgottenSubjects(key: [7])
        let letters = try DeadLetters(
            path: self.directory.file("dead_letters.db"), forgotten: forgotten)
        let batch = try TestHits.batch((1...2).map(TestEvents.full))
        try await letters.keep(batch, reasons: [0: "no", 1: "no"], sink: "s")
        let replayed = try await letters.letters(of: "s", after: 0, limit: 9)
        let last = try #require(replayed.last)
        forgotten.insert(forgotten.hashes(of: Self.gone))
        #expect(await letters.erase(Self.gone).end() == .erased(1))
        try await letters.settle(
            replayed, of: batch, refused: [last.id: "subject-2 came after subject-1"])
        #expect(try self.directory.files(holding: "subject-1") == [])
        #expect(try !self.directory.files(holding: "subject-2 came after *********").isEmpty)
    }

    @Test("an id in the reason of somebody else's letter is masked, and the letter stays")
    func reasons() async throws {
        let letters = try DeadLetters(path: self.directory.file("dead_letters.db"))
        let batch = try TestHits.batch([TestEvents.full(id: 2)])
        let reason = "the backend refused it: subject-1 and\0subject-1 have this"
        try await letters.keep(batch, reasons: [0: reason], sink: "s")
        #expect(try !self.directory.files(holding: "subject-1").isEmpty)
        #expect(await letters.erase(Self.gone).end() == .erased(0))
        #expect(try self.directory.files(holding: "subject-1") == [])
        #expect(try await letters.letters(of: "s", after: 0, limit: 9).count == 1)
        #expect(try !self.directory.files(holding: "********* and\0********* have this").isEmpty)
    }

    @Test(
        "ids are masked where they stand in a text, and nothing else is",
        arguments: [
            ("", nil), ("nobody", nil), ("a-1", "***"), ("a-1,a-1", "***,***"),
            ("b*", "**"), ("**", nil), ("ä a-1", "ä ***"), ("äa-1ä", "ä***ä"),
            // A short one within a longer word or number is not the id.
            ("xa-1", nil), ("a-1y", nil), ("a-10", nil), ("xa-1 a-1", "xa-1 ***"),
            ("1234567", "*******"), ("12345670", nil), ("HTTP 404: 1234567", "HTTP 404: *******"),
            // One of 8 bytes is masked wherever it stands.
            ("xid-23456y", "x********y"), ("id-23456id-23456", "****************"),
            ("a-1id-23456", "***********"),
        ] as [(String, String?)])
    func maskedText(_ text: String, _ masked: String?) {
        let ids = ["a-1", "b*", "*", "1234567", "id-23456"]
        #expect(ids.map(\.utf8.count).suffix(2) == [7, Subject.minMaskedWithinBytes])
        #expect(Subject(tenant: "t", ids: ids).masked(text) == masked)
    }

    @Test("no word that is a short id stays, no other word changes, and a long id stays nowhere")
    func maskedWords() {
        var dice = Dice(seed: Dice.runSeed)
        let (short, long) = (["1", "a1", "abcdefg"], "abcdefgh")
        let subject = Subject(tenant: "t", ids: short + [long])
        for _ in 0..<2000 {
            let pieces = short + [long, "0", "é", " ", "-", "*"]
            let text = (0..<dice.below(12)).map { _ in dice.pick(pieces) }.joined()
            var (expected, word) = ("", "")
            for character in text.replacing(long, with: "********") + " " {
                if character.isASCII, character.isLetter || character.isNumber {
                    word.append(character)
                    continue
                }
                expected += short.contains(word) ? String(repeating: "*", count: word.count) : word
                expected.append(character)
                word = ""
            }
            #expect(
                (subject.masked(text) ?? text) + " " == expected, "\(text), seed \(Dice.runSeed)")
        }
    }

    @Test("what no build can read goes if the id stands in it, and stays if not")
    func unreadable() async throws {
        let letters = try DeadLetters(path: self.directory.file("dead_letters.db"))
        for (sequence, id) in [(1, 1), (2, 2)] {
            let damaged = HitBatch(
                try TestHits.requestFromLaterOn([TestEvents.full(id: id)], strange: 0),
                sequence: Int64(sequence))
            #expect(try await letters.keep(unreadable: damaged, reason: "no", sink: "s") == 1)
        }
        #expect(await letters.erase(Self.gone).end() == .erased(1))
        #expect(try self.directory.files(holding: "subject-1") == [])
        #expect(try !self.directory.files(holding: "subject-2").isEmpty)
    }

    @Test("dead letters are overwritten as they are deleted, whatever SQLite was built with")
    func deletedLetters() {
        #expect(DeadLetters.format.settings.contains("PRAGMA secure_delete = ON"))
    }
}
