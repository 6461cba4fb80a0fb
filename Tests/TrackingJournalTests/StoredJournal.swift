// The files of a journal, for tests that change them.
internal import Foundation
internal import GRDB
@testable internal import Storage
internal import TestSupport
@testable internal import TrackingJournal
internal import TrackingRules

/// A journal of three segments and a spare; the sink has the first batch.
struct StoredJournal: Sendable {
    /// Contents by name, without the ballast.
    private(set) var files: [String: [UInt8]] = [:]
    /// The batches that the sink has yet to get.
    let batches: [JournalBatch]
    /// The sink's last batch.
    let cursor: Int64
    let end: End
    let checkpoint: CheckpointStore.Contents
    let records: [Place]

    /// How the process that wrote them ended.
    enum End: CaseIterable {
        /// No checkpoint covers the last three batches.
        case killed
        case closed
    }

    /// The position of a record.
    struct Place: Sendable {
        let file: String
        let bytes: Range<Int>
        let sequence: Int64
    }

    /// The newest sequence.
    static let last: Int64 = 10

    var segments: [String: [UInt8]] { self.files.filter { $0.key.hasPrefix("segment") } }
    /// The name of the current segment.
    var newest: String { self.records.first { $0.sequence == Self.last }?.file ?? "" }

    init(_ end: End) async throws {
        let directory = try TemporaryDirectory(.memory)
        try await Self.makeCheckpoint(in: directory)
        // Each batch has a segment of its own: three of four spares are reused.
        var journal = try Self.open(directory)
        for first in [100, 200, 300, 400] { await Self.commit(first, 18, to: journal) }
        journal.advance(sink: "a", to: 4)
        await journal.close()
        journal = try Self.open(directory)
        for (first, count) in [(500, 1), (510, 2), (520, 3)] {
            await Self.commit(first, count, to: journal)
        }
        journal.advance(sink: "a", to: 5)
        await journal.settle()
        for (first, count) in [(600, 18), (700, 4), (710, 5)] {
            await Self.commit(first, count, to: journal)
        }
        var batches: [JournalBatch] = []
        for sequence in 5..<Self.last {
            if let batch = try await journal.batch(after: sequence) { batches.append(batch) }
        }
        (self.batches, self.cursor, self.end) = (batches, 5, end)
        if end == .killed { self.files = try Self.files(in: directory) }
        await journal.settle()
        await journal.close()
        if end == .closed { self.files = try Self.files(in: directory) }
        self.records = Self.records(in: self.files)
        self.checkpoint = try Self.contents(of: self.files)
    }

    private static func open(_ directory: TemporaryDirectory) throws -> Journal {
        try Journal.open(directory) {
            $0.segmentBytes = 1500
            $0.checkpointMilliseconds = 3_600_000
            // Few keys, for a short checkpoint.
            $0.windowCapacity = 20
        }
    }

    private static func commit(_ first: Int, _ count: Int, to journal: Journal) async {
        await journal.commit(AdmittedRequest.impressions(first..<first + count))
    }

    /// A checkpoint with short pages, which has fewer unused bytes.
    private static func makeCheckpoint(in directory: TemporaryDirectory) async throws {
        await (try Journal.open(directory)).close()
        let database = try DatabaseQueue(path: directory.journalFile("checkpoint.db").path)
        try await database.writeWithoutTransaction {
            try $0.execute(
                sql: "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM")
        }
        try database.close()
    }

    private static func files(in directory: TemporaryDirectory) throws -> [String: [UInt8]] {
        try FileManager.default.contentsOfDirectory(atPath: directory.journal)
            .filter { $0 != "ballast" }
            .reduce(into: [:]) {
                $0[$1] = [UInt8](try Data(contentsOf: directory.journalFile($1)))
            }
    }

    private static func records(in files: [String: [UInt8]]) -> [Place] {
        files.flatMap { name, bytes -> [Place] in
            guard
                case .segment(let salts, _) = SegmentStart(
                    bytes.prefix(SegmentHeader.byteCount)),
                name.hasPrefix("segment"), let salt = salts.first
            else { return [] }
            let found = bytes.withUnsafeBytes {
                FoundRecord.all(in: $0, from: SegmentHeader.byteCount, salt: salt)
            }
            return found.map {
                Place(file: name, bytes: $0.offset..<$0.endOffset, sequence: $0.header.sequence)
            }
        }
    }

    private static func contents(
        of files: [String: [UInt8]]
    ) throws -> CheckpointStore.Contents {
        let directory = try TemporaryDirectory(.memory)
        for (name, bytes) in files where name.hasPrefix("checkpoint") {
            try Data(bytes).write(to: URL(filePath: directory.path + "/" + name))
        }
        let store = try CheckpointStore(
            path: directory.path + "/checkpoint.db", queue: DispatchWorkQueue("stored"))
        defer { store.close() }
        return try store.contents(restoring: DeduplicationWindow(capacity: 100))
    }

    /// The sequence of the undelivered record that contains a byte.
    func record(_ file: String, _ offset: Int) -> Int64? {
        self.records.first {
            $0.file == file && $0.bytes.contains(offset) && $0.sequence > self.cursor
        }?.sequence
    }

    /// A file's bytes, with a bit of one byte flipped.
    func bytes(of name: String, flipping file: String, at offset: Int) -> [UInt8] {
        var bytes = self.files[name] ?? []
        if name == file { bytes[offset] ^= 1 << UInt8((offset + offset / 8) % 8) }
        return bytes
    }

    /// Writes the checkpoint's files, with a bit of one byte flipped.
    func writeCheckpoint(
        to directory: TemporaryDirectory, flipping file: String, at offset: Int
    ) throws {
        for name in ["checkpoint.db", "checkpoint.db-wal"] {
            let url = URL(filePath: directory.path + "/" + name)
            if self.files[name] == nil {
                // Left by a start that was refused.
                try? FileManager.default.removeItem(at: url)
            } else {
                try Data(self.bytes(of: name, flipping: file, at: offset)).write(to: url)
            }
        }
    }
}
