// Damaged, torn and foreign files, and starting without a disk.
internal import CCRC32C
internal import Foundation
internal import GRDB
@testable internal import Storage
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct JournalFaultTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private func segment(_ number: Int) throws -> Segment {
        try Segment(
            number: number, in: LocalFileSystem().directory(self.directory.path),
            machine: .local, program: "test")
    }

    private func append(_ sequence: Int64, bytes: Int = 1, to segment: Segment) throws {
        _ = try segment.append(
            Record(
                sequence: sequence, createTime: 1, eventCount: 1, eventTotal: UInt32(sequence),
                keys: [], payload: [UInt8](repeating: 1, count: bytes)))
    }

    private func change(_ path: String, _ change: (inout Data) -> Void) throws {
        var bytes = try Data(contentsOf: URL(filePath: path))
        change(&bytes)
        try bytes.write(to: URL(filePath: path))
    }

    /// Recovers segments 1 and 2, which hold everything, after a checkpoint of the records up to a
    /// sequence.
    private func recover(savedThrough sequence: Int64 = 0) throws -> LogRecovery.Outcome {
        var checkpoint = CheckpointStore.Contents()
        checkpoint.lastSequence = sequence
        var recovery = LogRecovery(after: checkpoint, now: 1)
        for number in 1...2 { try recovery.read(self.segment(number)) }
        return try recovery.finish { _, _ in }
    }

    @Test("a torn record's head is erased before its sequence is used again elsewhere")
    func tornHead() throws {
        let (first, second) = (try self.segment(1), try self.segment(2))
        for sequence in 1...2 { try self.append(Int64(sequence), to: first) }
        let end = first.endOffset - 1
        try self.change(first.path) { $0[end] ^= 1 }
        #expect(try self.recover().rows.map(\.sequence) == [1])
        // The next record with that sequence goes to another segment, and the process is killed
        // again.
        try self.append(2, bytes: 9, to: second)
        let outcome = try self.recover()
        #expect(outcome.rows.map(\.sequence) == [1, 2])
        #expect(outcome.rows.map(\.place?.segment) == [1, 2])
    }

    @Test("of a torn record and a whole one of the same sequence the whole one counts")
    func wholeFirst() throws {
        let (first, second) = (try self.segment(1), try self.segment(2))
        for sequence in 1...2 { try self.append(Int64(sequence), to: first) }
        try self.append(2, bytes: 9, to: second)
        try self.append(3, to: second)
        let end = first.endOffset - 1
        try self.change(first.path) { $0[end] ^= 1 }
        let outcome = try self.recover()
        #expect(outcome.rows.map(\.sequence) == [1, 2, 3])
        #expect(outcome.rows.map(\.place?.segment) == [1, 2, 2])
        #expect(outcome.losses.isEmpty)
    }

    @Test(
        "the newest record, if it is not whole, was never acknowledged, unless a checkpoint has it",
        arguments: [(1, 1, [1]), (2, 0, [1, 1])])
    func newestSaved(_ savedThrough: Int64, _ torn: Int, _ segments: [Int]) throws {
        let first = try self.segment(1)
        for sequence in 1...2 { try self.append(Int64(sequence), to: first) }
        let end = first.endOffset - 1
        try self.change(first.path) { $0[end] ^= 1 }
        let outcome = try self.recover(savedThrough: savedThrough)
        #expect(outcome.tornRecords == torn)
        // What is not whole keeps its place, and is told when it is read.
        #expect(outcome.rows.map(\.place?.segment) == segments)
    }

    @Test(
        "a flipped bit costs the record that it is in, and says how many events that held",
        arguments: [0, 12, 20, 2048, 4096, 4104, 4112, 4136, 4140, 4150])
    func flippedBit(_ offset: Int) async throws {
        var journal = try Journal.open(self.directory)
        for id in 1...3 {
            await journal.commit(AdmittedRequest.impressions(id * 10...id * 10 + id))
        }
        await journal.close()
        try self.change(self.directory.journalFile("segment-1").path) { $0[offset] ^= 1 }
        journal = try Journal.open(self.directory)
        journal.finish()
        var lost: [LostRecords] = []
        var (last, whole): (Int64, [Int64]) = (0, [])
        while let batch = try await journal.batch(after: last) {
            last = batch.sequence
            if let loss = batch.loss { lost.append(loss) } else { whole.append(last) }
        }
        // Only damage within a record loses one: the header page has two copies.
        let isInRecord = offset >= SegmentHeader.byteCount
        #expect(whole == (isInRecord ? [2, 3] : [1, 2, 3]))
        #expect(lost == (isInRecord ? [LostRecords(sequences: 1...1, eventCount: 2)] : []))
        for sink in ["a"] { journal.advance(sink: sink, to: 3) }
        await journal.settle()
        await journal.close()
        journal = try Journal.open(self.directory)
        await journal.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: self.directory.journal)
        #expect(names.contains("1.damaged") && !names.contains("segment-1"))
    }

    @Test("a segment of another build or program stops the start, and stays as it was")
    func otherSegment() async throws {
        let journal = try Journal.open(self.directory)
        await journal.commit(TestEvents.impression(1))
        await journal.close()
        let path = self.directory.journalFile("segment-9").path
        var newer = SegmentHeader(salt: 1, program: "Sightline 9").encoded()
        newer.replaceSubrange(8..<12, with: [9, 0, 0, 0])
        for (bytes, words) in [
            (Data("#!/bin/sh\n".utf8), "does not begin as a segment does"),
            (Data("sightlog\u{2}".utf8), "has format 2 of a build before"),
            (Data(newer), "has format 9, and this build knows formats up to 1: Sightline 9"),
        ] {
            try (bytes + Data(count: 5000)).write(to: URL(filePath: path))
            if bytes == Data(newer) { try Self.mendChecksum(path) }
            try self.expectRefusal(of: path, words)
        }
    }

    @Test(
        "a checkpoint of another build stops the start, and stays as it was",
        arguments: [
            ("PRAGMA user_version = 2", "has format 2, and this build knows formats up to 1"),
            ("PRAGMA application_id = 0", "has format 1 of a build before"),
            (
                "PRAGMA application_id = 0; PRAGMA user_version = 0",
                "has format 0 of a build before"
            ),
        ])
    func otherCheckpoint(_ sql: String, _ words: String) async throws {
        let journal = try Journal.open(self.directory)
        await journal.commit(TestEvents.impression(1))
        await journal.close()
        let path = self.directory.journalFile("checkpoint.db").path
        let database = try DatabaseQueue(path: path)
        try await database.writeWithoutTransaction { try $0.execute(sql: sql) }
        try database.close()
        try self.expectRefusal(of: path, words)
    }

    private func expectRefusal(of path: String, _ words: String) throws {
        let before = try Data(contentsOf: URL(filePath: path))
        let error = #expect(throws: JournalError.self) { try Journal.open(self.directory) }
        guard case .format(let error) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        for words in [path, words] { #expect(error.description.contains(words)) }
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }

    /// Updates the checksum of a header with another format.
    private static func mendChecksum(_ path: String) throws {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let sector = bytes[0..<12] + bytes[16..<512]
        let checksum = Array(sector).withUnsafeBytes {
            sightline_crc32c(0, $0.baseAddress, $0.count)
        }
        var mended = bytes
        withUnsafeBytes(of: checksum.littleEndian) {
            mended.replaceSubrange(12..<16, with: $0)
            mended.replaceSubrange(2060..<2064, with: $0)
        }
        mended.replaceSubrange(2056..<2060, with: [9, 0, 0, 0])
        try Data(mended).write(to: URL(filePath: path))
    }

    @Test(
        "a checkpoint that has changed is refused",
        arguments: [
            "UPDATE cursor SET sequence = 7", "UPDATE journal SET deleted_through = 7",
            "UPDATE journal SET checksum = 7", "DELETE FROM journal",
            "UPDATE journal SET deleted_through = last_sequence + 1, checksum = NULL",
        ])
    func checkpointChecksum(_ sql: String) async throws {
        let path = self.directory.journalFile("checkpoint.db").path
        let journal = try Journal.open(self.directory)
        await journal.commit(TestEvents.impression(1))
        journal.advance(sink: "a", to: journal.lastSequence)
        await journal.close()
        let database = try DatabaseQueue(path: path)
        try await database.writeWithoutTransaction { try $0.execute(sql: sql) }
        try database.close()
        let error = #expect(throws: JournalError.self) { try Journal.open(self.directory) }
        #expect(error.map { "\($0)".contains("checkpoint.db is damaged") } == true)
    }

    @Test("an operator gives a journal another name")
    func otherName() async throws {
        let first = try Journal.open(self.directory)
        await first.commit(TestEvents.impression(1))
        await first.close()
        let database = try DatabaseQueue(path: self.directory.journalFile("checkpoint.db").path)
        try await database.writeWithoutTransaction {
            try $0.execute(sql: "UPDATE journal SET identity = 'other', checksum = NULL")
        }
        try database.close()
        for _ in 0..<2 {
            let journal = try Journal.open(self.directory)
            #expect(journal.identity == "other" && journal.identity != first.identity)
            await journal.commit(TestEvents.impression(2))
            await journal.close()
        }
    }

    @Test("the journal of a build before the log of segments stops the start")
    func formerJournal() throws {
        try Data([1]).write(to: URL(filePath: self.directory.path + "/journal.db"))
        let error = #expect(throws: JournalError.self) {
            try DirectoryLock(directory: self.directory.path)
        }
        guard case .format = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("the first two segments have their full length before the first record comes")
    func prepared() async throws {
        let journal = try Journal.open(self.directory) {
            $0.preparedSegments = Journal.Configuration().preparedSegments
            $0.segmentBytes = 10_000
        }
        for number in 1...2 {
            let file = self.directory.journalFile("segment-\(number)")
            #expect(try Data(contentsOf: file).count == SegmentHeader.byteCount + 10_000)
        }
        await journal.close()
    }

    @Test("journal.mode off: a duplicate waits until the sink has its original")
    func duplicateWaits() async throws {
        let journal = try Journal.open(self.directory) { $0.mode = .off }
        let notes = RecordingReceiver()
        for sequence in 1...2 {
            journal.append([AdmittedRequest.impressions([7], sequence: sequence)], for: notes)
            _ = await journal.preview([])
        }
        #expect(notes.notes.isEmpty)
        journal.advance(sink: "a", to: journal.lastSequence)
        #expect(notes.notes.filter { $0 != .ended } == [.settled(1), .settled(2)])
        await journal.close()
    }
}
