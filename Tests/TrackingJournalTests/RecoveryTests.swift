// Recovery after a crash during a commit.
internal import Foundation
@testable internal import Storage
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

/// A journal after a kill following two commits that no checkpoint covers.
private struct KilledJournal: Sendable {
    let checkpoint: [String: Data]
    let segment: Data
    /// The length of the segment after the first commit.
    let firstCommit: Int
    /// The contents of the segment before it was reused.
    let older: Data
    let identity: String
    let first: AdmittedRequest
    let second: AdmittedRequest

    /// The contents after the end of the interrupted write.
    enum Rest: CaseIterable {
        case nothing
        case zeros
        case older
    }

    init() async throws {
        let directory = try TemporaryDirectory()
        var journal = try Journal.open(directory, folder: "older")
        for id in 1...9 { await journal.commit(AdmittedRequest.impressions([id])) }
        await journal.close()
        self.older = try Data(contentsOf: URL(filePath: directory.path + "/older/segment-1"))
        journal = try Journal.open(directory)
        self.checkpoint = try ["checkpoint.db", "checkpoint.db-wal"].reduce(into: [:]) {
            $0[$1] = try Data(contentsOf: directory.journalFile($1))
        }
        self.first = await journal.commit(AdmittedRequest.impressions(1...3))
        self.firstCommit =
            SegmentHeader.byteCount + RecordHeader.byteCount + 3 * DeduplicationWindow.changeBytes
            + self.first.journalBytes + self.first.ledgerBytes
        self.second = await journal.commit(AdmittedRequest.impressions(4...5, sequence: 2))
        let length =
            self.firstCommit + RecordHeader.byteCount + 2 * DeduplicationWindow.changeBytes
            + self.second.journalBytes + self.second.ledgerBytes
        // What follows is padding.
        self.segment = try Data(contentsOf: directory.journalFile("segment-1")).prefix(length)
        self.identity = journal.identity
        await journal.close()
    }

    /// The segment after a write that was interrupted after `length` bytes.
    private func segment(cutAt length: Int, rest: Rest) -> Data {
        let start = self.segment.prefix(length)
        switch rest {
        case .nothing: return start
        case .zeros: return start + Data(count: self.segment.count - length)
        case .older: return start + self.older.dropFirst(length)
        }
    }

    /// Opens a copy whose last write was interrupted after `length` bytes; returns what is wrong.
    func defect(
        cutAt length: Int, rest: Rest, in directory: TemporaryDirectory
    ) async throws -> String? {
        try? FileManager.default.removeItem(atPath: directory.journal)
        try FileManager.default.createDirectory(
            atPath: directory.journal, withIntermediateDirectories: false)
        for (name, data) in self.checkpoint { try data.write(to: directory.journalFile(name)) }
        let segment = self.segment(cutAt: length, rest: rest)
        try segment.write(to: directory.journalFile("segment-1"))
        // The last bytes may equal the old contents.
        let isWhole = segment.prefix(self.segment.count) == self.segment
        var journal = try Journal.open(directory) { $0.windowCapacity = 16 }
        if let defect = try await self.defect(of: journal, isWhole: isWhole) { return defect }
        let third = await journal.commit(AdmittedRequest.impressions([6]))
        await journal.close()
        journal = try Journal.open(directory) { $0.windowCapacity = 16 }
        defer { journal.finish() }
        let last = Int64(isWhole ? 3 : 2)
        guard journal.lastSequence == last, try journal.writer.holds(third, after: last - 1) else {
            return "what came after it differs"
        }
        let defect = try await self.defect(of: journal, isWhole: isWhole, last: last)
        await journal.close()
        return defect.map { "reopened: \($0)" }
    }

    private func defect(
        of journal: Journal, isWhole: Bool, last: Int64? = nil
    ) async throws -> String? {
        guard journal.identity == self.identity else { return "another identity" }
        guard journal.lastSequence == last ?? (isWhole ? 2 : 1) else {
            return "another last sequence"
        }
        guard try journal.writer.holds(self.first, after: 0) else { return "the first differs" }
        guard try last != nil || isWhole || journal.writer.batch(after: 1) == nil else {
            return "half a batch"
        }
        guard try !isWhole || journal.writer.holds(self.second, after: 1) else {
            return "the second differs"
        }
        let known = await journal.preview(self.first.acceptedEvents + self.second.acceptedEvents)
            .map(\.granted.isEmpty)
        return known == [true, true, true, isWhole, isWhole]
            ? nil : "the window knows \(known)"
    }
}

extension JournalWriter {
    /// Whether the row after `sequence` is the request's block, byte for byte.
    fileprivate func holds(_ request: AdmittedRequest, after sequence: Int64) throws -> Bool {
        guard let batch = try self.batch(after: sequence) else { return false }
        return !batch.isDamaged && batch.sequence == sequence + 1
            && batch.eventCount == request.acceptedEvents.count
            && batch.payload == request.block
    }
}

struct RecoveryTests {
    /// The rest of the file is empty, zeros, or an earlier use's records.
    @Test("a log cut at every byte of its last commit opens with the commit before it, and goes on")
    func everyCut() async throws {
        let killed = try await KilledJournal()
        let defects = try await withThrowingTaskGroup(of: [String].self) { group in
            for rest in KilledJournal.Rest.allCases {
                group.addTask {
                    let directory = try TemporaryDirectory(.memory)
                    var defects: [String] = []
                    for cut in killed.firstCommit...killed.segment.count {
                        let defect = try await killed.defect(cutAt: cut, rest: rest, in: directory)
                        if let defect { defects.append("cut at \(cut), \(rest): \(defect)") }
                    }
                    return defects
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(defects == [])
        #expect(killed.segment.count > killed.firstCommit + 200)
        #expect(killed.older.count > killed.segment.count)
    }

    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// Changes three rows after a clean shutdown; returns which batches are damaged.
    private func damages(
        segmentBytes: Int = 1 << 20, _ change: (TemporaryDirectory) throws -> Void
    ) async throws -> [Int64: Bool] {
        var journal = try Journal.open(self.directory) { $0.segmentBytes = segmentBytes }
        for id in 1...3 { await journal.commit(TestEvents.impression(id)) }
        await journal.close()
        try change(self.directory)
        journal = try Journal.open(self.directory)
        journal.finish()
        var damages: [Int64: Bool] = [:]
        var last: Int64 = 0
        while let batch = try await journal.batch(after: last) {
            last = batch.sequence
            damages[last] = batch.isDamaged
        }
        #expect(await journal.commit(TestEvents.impression(4)) == [.accepted])
        #expect(journal.lastSequence == 4)
        await journal.close()
        return damages
    }

    /// Flips a bit in record `index`, `byte` bytes after its start.
    private static func flip(_ index: Int, byte: Int) -> (TemporaryDirectory) throws -> Void {
        { directory in
            let file = directory.journalFile("segment-1")
            var bytes = try Data(contentsOf: file)
            let request = AdmittedRequest.impressions([1])
            let record =
                request.journalBytes + request.ledgerBytes
                + RecordHeader.byteCount + DeduplicationWindow.changeBytes
            bytes[SegmentHeader.byteCount + index * record + byte] ^= 1
            try bytes.write(to: file)
        }
    }

    @Test("a record that a checkpoint knows of is told as damaged, wherever in it a bit is flipped")
    func damagedRecord() async throws {
        for index in 0..<3 {
            for byte in [0, 4, 8, 16, 24, 32, 36, 40, 48, 60, 100] {
                let damages = try await RecoveryTests().damages(Self.flip(index, byte: byte))
                #expect(
                    damages == [1: index == 0, 2: index == 1, 3: index == 2],
                    "record \(index), byte \(byte)")
            }
        }
    }

    @Test("a segment that is gone is told as one damaged batch, and the others are there")
    func missingSegment() async throws {
        for number in 1...3 {
            let damages = try await RecoveryTests().damages(segmentBytes: 1) { directory in
                try FileManager.default.removeItem(
                    at: directory.journalFile("segment-\(number)"))
            }
            #expect(damages == [1: number == 1, 2: number == 2, 3: number == 3])
        }
    }

    @Test("a record with another salt is nobody's, however well it fits")
    func otherSalt() {
        let records = (1...2).map {
            Record(
                sequence: $0, createTime: 1, eventCount: 1, eventTotal: UInt32($0), keys: [],
                payload: [1, 2])
        }
        // The salts end with the same byte, so a single byte cannot distinguish them.
        for (salt, count) in [(UInt64(0x101), 2), (0x201, 1)] {
            let bytes =
                records[0].header(salt: 0x101).encoded() + records[0].payload
                + records[1].header(salt: salt).encoded() + records[1].payload
            #expect(
                bytes.withUnsafeBytes { FoundRecord.all(in: $0, from: 0, salt: 0x101) }.count
                    == count)
        }
    }

    @Test("of a segment used again, a first record that is half there is nobody's")
    func tornFirstRecord() throws {
        let (first, second) = (try self.segment(1), try self.segment(2))
        for sequence in 1...2 { try self.append(Int64(sequence), to: first) }
        try self.append(3, to: second)
        let file = URL(filePath: second.path)
        var bytes = try Data(contentsOf: file)
        bytes[SegmentHeader.byteCount + RecordHeader.byteCount] ^= 1
        try bytes.write(to: file)
        var recovery = LogRecovery(after: CheckpointStore.Contents(), now: 1)
        for number in [2, 1] { try recovery.read(self.segment(number)) }
        let outcome = try recovery.finish { _, _ in }
        #expect(outcome.segments.map(\.number) == [1])
        #expect(outcome.spares.map(\.number) == [2])
        #expect(outcome.rows.map(\.sequence) == [1, 2])
    }

    private func segment(_ number: Int) throws -> Segment {
        try Segment(
            number: number, in: LocalFileSystem().directory(self.directory.path),
            machine: .local, program: "test")
    }

    private func append(_ sequence: Int64, to segment: Segment) throws {
        _ = try segment.append(
            Record(
                sequence: sequence, createTime: 1, eventCount: 1, eventTotal: UInt32(sequence),
                keys: [], payload: [1]))
    }
}
