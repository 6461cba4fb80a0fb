internal import Glibc
internal import Storage

/// A file of consecutive records that share a salt. Files are reused in any order: which records a
/// file holds is known from their sequences. Used on the journal's queue only.
final class Segment {
    /// The number in the file's name; it implies no order.
    let number: Int
    private let file: any OpenFile
    private let machine: Machine
    private let program: String
    private var salt: UInt64
    /// The offset of the next record.
    private(set) var endOffset = SegmentHeader.byteCount
    /// The newest record's sequence; 0 if there is none.
    private(set) var lastSequence: Int64 = 0
    /// Whether a part is unreadable: the file is kept for examination and never overwritten.
    var isDamaged = false
    /// Whether no record may be appended, since it is damaged.
    private(set) var isSealed = false

    /// A lower bound of the file's length.
    private var fileBytes = 0
    /// Where the bytes of earlier uses end, as far as is known.
    private var formerEnd = 0

    /// Pads each write to a page: the rest of one that is not cached would have to be read first.
    private static let padding = [UInt8](repeating: 0, count: 4096)

    /// The bytes of padding after a record that ends at `offset`.
    private static func padding(after offset: Int) -> Int { -offset & (Self.padding.count - 1) }

    /// Opens or creates the file with a number; its existing contents are ignored.
    ///
    /// - Parameter program: the program's name, for the header.
    init(
        number: Int, in directory: any Directory, machine: Machine, program: String
    ) throws(SystemError) {
        self.number = number
        self.file = try directory.open(Self.name(number))
        self.machine = machine
        self.program = program
        self.salt = Self.randomSalt(machine)
    }

    /// The name of its file.
    var name: String { Self.name(self.number) }
    /// The path of its file, for messages.
    var path: String { self.file.path }

    private static func name(_ number: Int) -> String { "segment-\(number)" }

    /// The number in a segment file's name; nil for other names, and for numbers beyond ours.
    static func number(of name: String) -> Int? {
        let number = Int(name.dropFirst("segment-".count))
        return number.flatMap { name == Self.name($0) && (1...1 << 40).contains($0) ? $0 : nil }
    }

    /// An odd number, so that its first byte differs from padding.
    private static func randomSalt(_ machine: Machine) -> UInt64 { machine.random() | 1 }

    /// Discards its records: the next one is written at the start.
    func clear() {
        self.formerEnd = max(self.formerEnd, self.endOffset)
        self.salt = Self.randomSalt(self.machine)
        self.endOffset = SegmentHeader.byteCount
        self.lastSequence = 0
        self.isSealed = false
    }

    /// Continues after the records that were found in it.
    func resume(after records: [FoundRecord], isSealed: Bool) {
        self.isSealed = isSealed
        guard let last = records.last else { return }
        self.salt = last.header.salt
        self.endOffset = last.offset + last.header.recordBytes
        self.lastSequence = last.header.sequence
    }

    /// Prevents further appends to an unreadable file, and keeps it until `sequence` is released.
    func seal(through sequence: Int64) {
        self.isSealed = true
        self.lastSequence = max(self.lastSequence, sequence)
    }

    // MARK: Writing

    /// Whether a record fits in allocated space.
    func hasSpace(for record: Record) -> Bool {
        let end = self.endOffset + record.byteCount
        return end + Self.padding(after: end) <= self.fileBytes
    }

    /// The bytes of its records.
    var recordBytes: Int { self.endOffset - SegmentHeader.byteCount }

    /// Appends a record and returns its place once it is on disk. If there is no room, the segment
    /// is unchanged.
    func append(_ record: Record) throws(SystemError) -> RecordPlace {
        precondition(!self.isSealed, "a damaged segment gets no further records")
        let offset = self.endOffset
        let end = offset + record.byteCount
        let head = record.header(salt: self.salt).encoded()
        let padding = Self.padding.prefix(Self.padding(after: end))
        var parts = [
            head[...], record.ledger[...], record.keys[...], record.payload[...], padding,
        ]
        let isFirst = offset == SegmentHeader.byteCount
        if isFirst { parts.insert(self.header[...], at: 0) }
        do throws(SystemError) {
            try self.file.writeAll(parts, at: isFirst ? 0 : offset)
        } catch {
            try self.eraseHead(at: offset)
            throw error
        }
        self.fileBytes = max(self.fileBytes, end + padding.count)
        try self.file.sync()
        self.endOffset = end
        self.lastSequence = record.sequence
        return RecordPlace(segment: self.number, offset: offset)
    }

    private var header: [UInt8] {
        SegmentHeader(salt: self.salt, program: self.program).encoded()
    }

    /// Writes the last record again and syncs it. If an earlier process ended at a failed sync, the
    /// record may exist in the page cache only, where no later sync writes it.
    func rewrite(_ last: FoundRecord) throws(SystemError) {
        let bytes = try self.file.readAll(last.header.recordBytes, at: last.offset)
        try self.file.writeAll([bytes[...]], at: last.offset)
        if last.offset == SegmentHeader.byteCount {
            try self.file.writeAll([self.header[...]], at: 0)
        }
        try self.file.sync()
    }

    /// Erases the header of an incompletely written record and syncs that. Another record gets its
    /// sequence, perhaps in another segment, and the next start must not find both.
    func eraseHead(at offset: Int) throws(SystemError) {
        do throws(SystemError) {
            let bytes = try self.file.readAll(RecordHeader.byteCount, at: offset)
            guard bytes.withUnsafeBytes({ RecordHeader(at: 0, in: $0) }) != nil else { return }
            try self.file.writeAll([Self.padding.prefix(RecordHeader.byteCount)], at: offset)
            try self.file.sync()
        } catch {
            // Reported as a failed disk even if there was no room: a retry would leave the header.
            throw SystemError(error.call, error.path, EIO)
        }
    }

    /// Preallocates the file: a write that extends a file waits for the file system's metadata.
    func prepare(_ byteCount: Int) throws(SystemError) {
        try self.file.writeAll([self.header[...]], at: 0)
        try self.writeZeros(in: SegmentHeader.byteCount..<byteCount)
        try self.file.sync()
        self.fileBytes = max(self.fileBytes, byteCount)
    }

    /// Overwrites what earlier uses have left behind the last record. Correctness does not depend
    /// on it: the salt already distinguishes old records.
    func eraseRest() throws(SystemError) {
        let end = self.endOffset + Self.padding(after: self.endOffset)
        guard self.lastSequence > 0, end < self.formerEnd else { return }
        try self.writeZeros(in: end..<self.formerEnd)
        self.formerEnd = end
    }

    private func writeZeros(in range: Range<Int>) throws(SystemError) {
        let chunk = [UInt8](repeating: 0, count: min(1 << 20, range.count))
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: 1 << 20) {
            try self.file.writeAll([chunk.prefix(range.upperBound - offset)], at: offset)
        }
    }

    // MARK: Reading

    /// Reads `count` bytes, or fewer at the end of the file.
    func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
        try self.file.readAll(count, at: offset)
    }

    /// Reads the whole file; unreadable pages become zeros.
    func contents() throws(SystemError) -> SegmentContents {
        self.fileBytes = try self.file.size()
        self.formerEnd = self.fileBytes
        do throws(SystemError) {
            return SegmentContents(bytes: try self.file.readAll(self.fileBytes, at: 0))
        } catch {
            guard error.isUnreadable else { throw error }
        }
        var contents = SegmentContents(bytes: [])
        while contents.bytes.count < self.fileBytes {
            let offset = contents.bytes.count
            let count = min(Self.padding.count, self.fileBytes - offset)
            do throws(SystemError) {
                let page = try self.file.readAll(count, at: offset)
                if page.isEmpty { return contents }
                contents.bytes += page
            } catch {
                guard error.isUnreadable else { throw error }
                contents.bytes += Self.padding.prefix(count)
                contents.unreadable.append(offset..<offset + count)
            }
        }
        return contents
    }
}

/// A file's contents, as far as they can be read.
struct SegmentContents {
    var bytes: [UInt8]
    /// The ranges that the disk could not read.
    var unreadable: [Range<Int>] = []

    /// Whether a part of `range` could not be read.
    func isUnreadable(_ range: Range<Int>) -> Bool {
        self.unreadable.contains { $0.overlaps(range) }
    }
}
