// The log: what makes a group durable is one write and one fdatasync of a file that is already as
// long as it gets. A file of our own and not SQLite's: a commit there writes whole pages of a tree,
// four times the payload where groups are small.
internal import DequeModule
internal import Foundation
internal import Glibc

/// Segments in the order of their records, and some to be used again. Touched on the journal's
/// queue alone.
final class JournalLog {
    private let directory: String
    private let segmentBytes: Int
    /// Records are appended to the last one.
    private var segments: Deque<Segment> = []
    /// Segments whose records nobody needs: to write over them costs less than to make a file
    /// longer, by the metadata of the file system.
    private var spares: [Segment] = []
    private var lastNumber = 0

    private var hasBallast = false

    /// Spares that are kept; what a burst needed beyond them goes.
    private static let maxSpares = 4
    /// Space that is held back for the checkpoint that frees segments on a full disk.
    private static let ballastBytes = 1 << 20

    /// Why a record was not appended.
    enum Failure: Error {
        /// There is no room; the log is as it was.
        case diskFull
        /// The disk failed.
        case failed(reason: String)
    }

    /// A log that has yet to be recovered, in a directory that is made where it is missing.
    ///
    /// - Throws: `JournalError.unusable` where it cannot be made.
    init(directory: String, segmentBytes: Int) throws(JournalError) {
        self.directory = directory
        self.segmentBytes = segmentBytes
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            try Self.sync(directory: directory + "/..")
        } catch {
            throw .unusable(path: directory, reason: "\(error)")
        }
    }

    /// Appends a record, and returns its place once that is on disk.
    func append(_ record: Record) throws(Failure) -> RecordPlace {
        do throws(SystemError) {
            if let place = try self.appendToCurrent(record) { return place }
            return try self.appendToNext(record)
        } catch {
            throw error.isDiskFull ? .diskFull : .failed(reason: "\(error)")
        }
    }

    /// Appends a record to the last segment; nil where that is full, or the disk is and there is a
    /// spare, which may have its space already.
    private func appendToCurrent(_ record: Record) throws(SystemError) -> RecordPlace? {
        guard let current = self.segments.last,
            current.endOffset + record.byteCount <= self.segmentBytes
        else { return nil }
        do throws(SystemError) {
            return try self.append(record, to: current)
        } catch {
            guard error.isDiskFull, !self.spares.isEmpty else { throw error }
            return nil
        }
    }

    private func append(_ record: Record, to segment: Segment) throws(SystemError) -> RecordPlace {
        // What a checkpoint was given must not be taken by the next record.
        if !self.hasBallast, !segment.hasSpace(for: record) { try self.takeBallast() }
        return try segment.append(record)
    }

    private func appendToNext(_ record: Record) throws(SystemError) -> RecordPlace {
        let next = try self.takeSpare()
        do throws(SystemError) {
            let place = try self.append(record, to: next)
            self.segments.append(next)
            return place
        } catch {
            self.spares.append(next)
            throw error
        }
    }

    /// An empty segment: a spare where there is one, or else a new file.
    private func takeSpare() throws(SystemError) -> Segment {
        if let spare = self.spares.popLast() {
            spare.clear()
            return spare
        }
        self.lastNumber += 1
        let segment = try Segment(number: self.lastNumber, in: self.directory)
        try Self.sync(directory: self.directory)
        return segment
    }

    /// The row's batch, read from its segment.
    func batch(_ row: StoredRow) throws(SystemError) -> JournalBatch {
        guard let place = row.place,
            let segment = self.segments.first(where: { $0.number == place.segment })
        else {
            return JournalBatch(
                sequence: row.sequence, eventCount: 0, payload: [], isDamaged: true)
        }
        let header = RecordHeader.byteCount
        let bytes = try segment.read(header, at: place.offset)
        let keyBytes = bytes.withUnsafeBytes { RecordHeader(at: 0, in: $0)?.keyBytes }
        let record = try segment.read(
            header + (keyBytes ?? 0) + row.bytes, at: place.offset)
        let found = record.withUnsafeBytes { FoundRecord(at: 0, in: $0) }
        let isIntact = found?.isWhole == true && found?.header.sequence == row.sequence
        return JournalBatch(
            sequence: row.sequence, eventCount: found?.header.eventCount ?? 0,
            payload: Array(record.suffix(row.bytes)), isDamaged: !isIntact)
    }

    /// Lets segments be used again whose records have all gone, up to a sequence that a checkpoint
    /// holds.
    func release(through sequence: Int64) {
        while let first = self.segments.first, first.lastSequence <= sequence {
            self.segments.removeFirst()
            self.keepSpare(first)
        }
    }

    private func keepSpare(_ segment: Segment) {
        if self.spares.count < Self.maxSpares {
            self.spares.append(segment)
        } else {
            segment.remove()
        }
    }

    // MARK: A full disk

    private var ballast: String { self.directory + "/ballast" }

    /// Gives up a spare, or else the ballast, so that a checkpoint has room: it is what lets
    /// delivered records go.
    func makeRoom() {
        if let spare = self.spares.popLast() {
            spare.remove()
        } else {
            unlink(self.ballast)
            self.hasBallast = false
        }
    }

    /// Holds space back. Where there is none, no file gets longer.
    private func takeBallast() throws(SystemError) {
        let descriptor = open(self.ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError("open", self.ballast) }
        defer { close(descriptor) }
        let code = posix_fallocate(descriptor, 0, off_t(Self.ballastBytes))
        guard code == 0 else {
            unlink(self.ballast)
            throw SystemError("posix_fallocate", self.ballast, code)
        }
        self.hasBallast = true
    }

    // MARK: Opening

    /// Syncs a directory, so that new files are found in it after a power failure.
    static func sync(directory: String) throws(SystemError) {
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError("open", directory) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw SystemError("fsync", directory) }
    }

    /// Reads the segments that earlier runs left, and goes on after the last record.
    ///
    /// - Parameters:
    ///   - checkpoint: what need not be read again.
    ///   - onKeys: told the keys of each record that came after the checkpoint, in order.
    /// - Returns: the rows that are still needed. A row without a place stands for records that
    ///   should be there and cannot be read.
    func recover(
        after checkpoint: CheckpointStore.Contents, onKeys: (Int64, ArraySlice<UInt8>) -> Void
    ) throws(SystemError) -> [StoredRow] {
        var recovery = LogRecovery(after: checkpoint)
        for number in try self.segmentNumbers() {
            self.lastNumber = max(self.lastNumber, number)
            try recovery.read(Segment(number: number, in: self.directory))
        }
        let recovered = try recovery.finish(onKeys: onKeys)
        self.segments = Deque(recovered.segments)
        for segment in recovered.spares { self.keepSpare(segment) }
        return recovered.rows
    }

    private func segmentNumbers() throws(SystemError) -> [Int] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: self.directory)
        } catch {
            throw SystemError("opendir", self.directory)
        }
        return names.compactMap { name in
            let number = Int(name.dropFirst("segment-".count))
            return number.flatMap { name == "segment-\($0)" && $0 > 0 ? $0 : nil }
        }
    }
}
