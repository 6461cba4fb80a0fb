// One file of the log. Files are used again, in another order: what says which records a file holds
// are the records themselves.
internal import Glibc

/// A file of records, one after the other, all with the same salt. Touched on the journal's queue
/// alone.
final class Segment {
    /// What its file is named by: nothing follows from its order.
    let number: Int
    private let file: any OpenFile
    private let machine: Machine
    private let program: String
    private var salt: UInt64
    /// Where the next record begins.
    private(set) var endOffset = SegmentHeader.byteCount
    /// Sequence of the newest record; 0 where there is none.
    private(set) var lastSequence: Int64 = 0
    /// Whether something in it cannot be read: it is kept for people, and never written again.
    var isDamaged = false
    /// Whether no record is added to it: it is damaged, or of format 0.
    private(set) var isSealed = false

    /// How long the file is at least.
    private var fileBytes = 0

    /// Records end anywhere, writes end with a page: one that ended within a page that is not in
    /// memory would have to read it first.
    private static let padding = [UInt8](repeating: 0, count: 4096)

    /// Bytes of padding after a record that ends at `offset`.
    private static func padding(after offset: Int) -> Int { -offset & (Self.padding.count - 1) }

    /// Opens the file of a number in a directory, or makes it; it counts as empty.
    ///
    /// - Parameter program: the program's name, for its header.
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

    /// The number in the name of a segment's file; nil where it is another file's, or so high that
    /// no journal comes there.
    static func number(of name: String) -> Int? {
        let number = Int(name.dropFirst("segment-".count))
        return number.flatMap { name == Self.name($0) && (1...1 << 40).contains($0) ? $0 : nil }
    }

    /// An odd number, so that its first byte is not found in padding.
    private static func randomSalt(_ machine: Machine) -> UInt64 { machine.random() | 1 }

    /// Forgets its records: the next one is written at the start.
    func clear() {
        self.salt = Self.randomSalt(self.machine)
        self.endOffset = SegmentHeader.byteCount
        self.lastSequence = 0
        self.isSealed = false
    }

    /// Goes on after the records that were found in it.
    func resume(after records: [FoundRecord], isSealed: Bool) {
        self.isSealed = isSealed
        guard let last = records.last else { return }
        self.salt = last.header.salt
        self.endOffset = last.offset + last.header.recordBytes
        self.lastSequence = last.header.sequence
    }

    /// No record is added to a file that cannot be read, and it stays until a sequence has gone.
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

    /// Bytes of its records.
    var recordBytes: Int { self.endOffset - SegmentHeader.byteCount }

    /// Writes a record after the others, and returns its place once that is on disk. Where there is
    /// no room for it, the segment is as it was.
    func append(_ record: Record) throws(SystemError) -> RecordPlace {
        let offset = self.endOffset
        let end = offset + record.byteCount
        let head = record.header(salt: self.salt).encoded()
        let padding = Self.padding.prefix(Self.padding(after: end))
        var parts = [head[...], record.keys[...], record.payload[...], padding]
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

    /// Writes its last record once more, and waits until that is on disk. A process that ended at a
    /// failed sync leaves the record in the system's memory only, where no sync finds it again.
    func rewrite(_ last: FoundRecord) throws(SystemError) {
        let bytes = try self.file.readAll(last.header.recordBytes, at: last.offset)
        try self.file.writeAll([bytes[...]], at: last.offset)
        if last.offset == SegmentHeader.byteCount {
            try self.file.writeAll([self.header[...]], at: 0)
        }
        try self.file.sync()
    }

    /// Erases the head of a record that was written in part, where it came so far, and waits until
    /// that is on disk. Its sequence goes to another record, perhaps in another segment, and a
    /// start must not find both.
    func eraseHead(at offset: Int) throws(SystemError) {
        do throws(SystemError) {
            let bytes = try self.file.readAll(RecordHeader.byteCount, at: offset)
            guard bytes.withUnsafeBytes({ RecordHeader(at: 0, in: $0) }) != nil else { return }
            try self.file.writeAll([Self.padding.prefix(RecordHeader.byteCount)], at: offset)
            try self.file.sync()
        } catch {
            // For want of room too: the head would stay.
            throw SystemError(error.call, error.path, EIO)
        }
    }

    /// Gives the file its length before it is needed: a write that makes a file longer waits for
    /// the file system's metadata.
    func prepare(_ byteCount: Int) throws(SystemError) {
        let chunk = [UInt8](repeating: 0, count: 1 << 20)
        try self.file.writeAll([self.header[...]], at: 0)
        var offset = SegmentHeader.byteCount
        while offset < byteCount {
            let count = min(chunk.count, byteCount - offset)
            try self.file.writeAll([chunk.prefix(count)], at: offset)
            offset += count
        }
        try self.file.sync()
        self.fileBytes = max(self.fileBytes, byteCount)
    }

    // MARK: Reading

    /// Reads `count` bytes, fewer where the file ends before.
    func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
        try self.file.readAll(count, at: offset)
    }

    /// All its bytes. Pages that the disk cannot give are zeros.
    func contents() throws(SystemError) -> SegmentContents {
        self.fileBytes = try self.file.size()
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

/// What a file holds, as far as it can be read.
struct SegmentContents {
    var bytes: [UInt8]
    /// Pages that the disk could not give.
    var unreadable: [Range<Int>] = []

    /// Whether the disk could not give something of a range.
    func isUnreadable(_ range: Range<Int>) -> Bool {
        self.unreadable.contains { $0.overlaps(range) }
    }
}
