// When the log starts a new segment, and when it reuses one.
internal import Foundation
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

@Suite(.timeLimit(.minutes(10)))
struct JournalLogTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private func record(_ sequence: Int64, bytes: Int = 100) -> Record {
        Record(
            sequence: sequence, createTime: 1, eventCount: 1, eventTotal: UInt32(sequence),
            keys: [1, 2],
            payload: [UInt8](repeating: UInt8(sequence), count: bytes))
    }

    private func log(segmentBytes: Int) throws -> JournalLog {
        let log = try JournalLog(
            directory: self.directory.journal, configuration: .test(segmentBytes: segmentBytes),
            machine: .local)
        _ = try log.recover(after: CheckpointStore.Contents()) { _, _ in }
        return log
    }

    private var files: Set<String> {
        get throws {
            Set(try FileManager.default.contentsOfDirectory(atPath: self.directory.journal))
        }
    }

    private var segments: Int {
        get throws { try self.files.count { $0.hasPrefix("segment-") } }
    }

    @Test(
        "journal.segment_bytes: a record that ends at the limit is the last, one byte more is next",
        arguments: [(0, 2), (-1, 3)])
    func segmentBytes(_ row: (more: Int, segments: Int)) throws {
        let bytes = self.record(1).byteCount
        let log = try self.log(segmentBytes: 2 * bytes + row.more)
        let places = try (1...3).map { try log.append(self.record($0)).segment }
        #expect(places == (row.more == 0 ? [1, 1, 2] : [1, 2, 3]))
        #expect(try self.segments == row.segments)
    }

    @Test("a record that is longer than a segment has one of its own")
    func longRecord() throws {
        let log = try self.log(segmentBytes: 1000)
        let places = try [100, 5000, 100].enumerated().map { index, bytes in
            try log.append(self.record(Int64(index + 1), bytes: bytes)).segment
        }
        #expect(places == [1, 2, 3])
    }

    @Test("a segment is used again once its last row may go, and not before")
    func reuse() throws {
        let log = try self.log(segmentBytes: 2 * self.record(1).byteCount)
        for sequence in 1...5 { _ = try log.append(self.record(Int64(sequence))) }
        try log.release(through: 1)
        #expect(try log.append(self.record(6)).segment == 3)
        #expect(try log.append(self.record(7)).segment == 4)
        try log.release(through: 2)
        #expect(try log.append(self.record(8)).segment == 4)
        let place = try log.append(self.record(9))
        #expect(place.segment == 1 && place.offset == SegmentHeader.byteCount)
        // The segment's earlier records are ignored.
        let reopened = try JournalLog(
            directory: self.directory.journal, configuration: .test(segmentBytes: 1000),
            machine: .local)
        var checkpoint = CheckpointStore.Contents()
        checkpoint.releasedThrough = 2
        let rows = try reopened.recover(after: checkpoint) { _, _ in }.rows
        #expect(rows.map(\.sequence) == Array(3...9))
        for row in rows {
            let batch = try reopened.batch(row)
            #expect(!batch.isDamaged && batch.payload == self.record(row.sequence).payload)
        }
    }

    @Test("four spare segments are kept; a burst's other files go")
    func spares() throws {
        let log = try self.log(segmentBytes: 1)
        for sequence in 1...10 { _ = try log.append(self.record(Int64(sequence))) }
        #expect(try self.segments == 10)
        try log.release(through: 10)
        #expect(try self.segments == 4)
        for sequence in 11...14 { _ = try log.append(self.record(Int64(sequence))) }
        #expect(try self.segments == 4)
    }

    @Test("each spare is used in its turn, and keeps nothing of before behind its last record")
    func turns() throws {
        let log = try self.log(segmentBytes: 6000)
        for sequence in 1...4 { _ = try log.append(self.record(Int64(sequence), bytes: 5000)) }
        try log.release(through: 4)
        // A sink that keeps up: each record is released before the next one comes.
        let places = try (5...8).map { sequence in
            let place = try log.append(self.record(Int64(sequence), bytes: 100))
            try log.release(through: Int64(sequence))
            return place.segment
        }
        #expect(places == [1, 2, 3, 4])
        for name in try self.files where name.hasPrefix("segment-") {
            let bytes = try Data(contentsOf: self.directory.journalFile(name))
            // A record's payload is its sequence, again and again.
            let kept = (1...8).filter { sequence in
                bytes.range(of: Data(repeating: UInt8(sequence), count: 64)) != nil
            }
            #expect(kept.count == 1 && kept.allSatisfy { $0 > 4 }, "\(name) has \(kept)")
        }
    }

    @Test("a checkpoint without room gets that of the spares, and then that of the ballast")
    func room() throws {
        let log = try self.log(segmentBytes: 1)
        for sequence in 1...3 { _ = try log.append(self.record(Int64(sequence))) }
        try log.release(through: 2)
        #expect(try self.files == ["segment-1", "segment-2", "segment-3", "ballast"])
        #expect(try log.makeRoom())
        #expect(try log.makeRoom())
        #expect(try self.files == ["segment-3", "ballast"])
        #expect(try log.makeRoom())
        #expect(try self.files == ["segment-3"])
        #expect(try !log.makeRoom())
        // The next record allocates nothing before the ballast is restored.
        _ = try log.append(self.record(4))
        #expect(try self.files == ["segment-3", "segment-4", "ballast"])
        let ballast = self.directory.journalFile("ballast").path
        let size = try FileManager.default.attributesOfItem(atPath: ballast)[.size] as? Int
        #expect(size == 1 << 20)
    }

    @Test("a journal whose sink keeps up goes on with the files that it has")
    func steady() async throws {
        let journal = try Journal.open(self.directory) {
            $0.segmentBytes = AdmittedRequest.impressions([100]).journalBytes * 4
        }
        for id in 100...200 {
            await journal.commit(TestEvents.impression(id))
            journal.advance(sink: "a", to: journal.lastSequence)
            await journal.settle()
        }
        #expect(try self.segments <= 3)
        #expect(journal.storedBytes == 0)
        await journal.close()
    }

    @Test("journal.checkpoint_milliseconds: before it nothing is written, and at the end all is")
    func delay() async throws {
        var journal = try Journal.open(self.directory) { $0.checkpointMilliseconds = 3_600_000 }
        await journal.commit(TestEvents.impression(1))
        journal.advance(sink: "a", to: 1)
        let saved = try CheckpointStore.contents(copiedFrom: self.directory)
        #expect(saved.sinks.isEmpty && saved.recent.isEmpty)
        await journal.close()
        journal = try Journal.open(self.directory)
        #expect(journal.cursor(of: "a") == 1)
        #expect(journal.storedBytes == 0)
        await journal.close()
    }

    @Test("delivered rows are not written over before a checkpoint says that they have gone")
    func reuseAfterCheckpoint() async throws {
        let journal = try Journal.open(self.directory) {
            $0.segmentBytes = 1
            $0.checkpointMilliseconds = 3_600_000
        }
        for id in 1...6 {
            await journal.commit(TestEvents.impression(id))
            journal.advance(sink: "a", to: journal.lastSequence)
        }
        #expect(try self.segments == 6)
        await journal.settle()
        await journal.commit(TestEvents.impression(7))
        #expect(try self.segments == 4)
        await journal.close()
    }

    @Test("a cursor that moves is written without another group")
    func cursor() async throws {
        let journal = try Journal.open(self.directory) { $0.checkpointMilliseconds = 1 }
        await journal.commit(TestEvents.impression(1))
        journal.advance(sink: "a", to: 1)
        // Its row goes with it.
        while journal.storedBytes > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(try journal.writer.batch(after: 0) == nil)
        await journal.close()
    }

    @Test("keys without a checkpoint fill their memory to its limit, and one byte beyond")
    func unsavedKeys() {
        var rows = WindowRows([], capacity: 10, maxUnsavedBytes: 24)
        rows.add([UInt8](repeating: 1, count: 24), newKeys: 2)
        #expect(!rows.isFull)
        rows.add([1], newKeys: 0)
        #expect(rows.isFull)
        let (keys, newKeys) = rows.take()
        #expect(keys.count == 25 && newKeys == 2 && !rows.isFull)
    }
}
