// One file of the log. Files are used again, in another order: what says which records a file holds
// are the records themselves.
internal import Glibc

/// A file of records, one after the other, all with the same salt. Touched on the journal's queue
/// alone.
final class Segment {
    /// What its file is named by: nothing follows from its order.
    let number: Int
    let path: String
    private let descriptor: CInt
    private var salt: UInt64
    /// Where the next record begins.
    private(set) var endOffset = 0
    /// Sequence of the newest record; 0 where there is none.
    private(set) var lastSequence: Int64 = 0

    /// How long the file is at least.
    private var fileBytes = 0

    /// Records end anywhere, writes end with a page: one that ended within a page that is not in
    /// memory would have to read it first.
    private static let padding = [UInt8](repeating: 0, count: 4096)

    /// Bytes of padding after a record that ends at `offset`.
    private static func padding(after offset: Int) -> Int { -offset & (Self.padding.count - 1) }

    /// Opens the file of a number in a directory, or makes it; it counts as empty.
    init(number: Int, in directory: String) throws(SystemError) {
        let path = "\(directory)/segment-\(number)"
        self.number = number
        self.descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard self.descriptor >= 0 else { throw SystemError("open", path) }
        self.path = path
        self.salt = Self.randomSalt()
    }

    deinit { close(self.descriptor) }

    /// An odd number, so that its first byte is not found in padding.
    private static func randomSalt() -> UInt64 { .random(in: .min ... .max) | 1 }

    /// Forgets its records: the next one is written at the start.
    func clear() {
        self.salt = Self.randomSalt()
        self.endOffset = 0
        self.lastSequence = 0
    }

    /// Goes on after the records that were found in it.
    func resume(after records: [FoundRecord]) {
        guard let last = records.last else { return }
        self.salt = last.header.salt
        self.endOffset = last.offset + last.header.recordBytes
        self.lastSequence = last.header.sequence
    }

    // MARK: Writing

    /// Whether a record goes where the file has its space already.
    func hasSpace(for record: Record) -> Bool {
        let end = self.endOffset + record.byteCount
        return end + Self.padding(after: end) <= self.fileBytes
    }

    /// Writes a record after the others, and returns its place once that is on disk. Where there is
    /// no room for it, the segment is as it was.
    func append(_ record: Record) throws(SystemError) -> RecordPlace {
        let offset = self.endOffset
        let end = offset + record.byteCount
        let header = record.header(salt: self.salt).encoded()
        let padding = Self.padding.prefix(Self.padding(after: end))
        do throws(SystemError) {
            try self.write(
                [header[...], record.keys[...], record.payload[...], padding], at: offset)
        } catch {
            try self.eraseHead(at: offset)
            throw error
        }
        self.fileBytes = max(self.fileBytes, end + padding.count)
        try self.sync()
        self.endOffset = end
        self.lastSequence = record.sequence
        return RecordPlace(segment: self.number, offset: offset)
    }

    /// Writes its last record once more, and waits until that is on disk. A process that ended at a
    /// failed sync leaves the record in the system's memory only, where no sync finds it again.
    func rewrite(_ last: FoundRecord) throws(SystemError) {
        let bytes = try self.read(last.header.recordBytes, at: last.offset)
        try self.write([bytes[...]], at: last.offset)
        try self.sync()
    }

    private func write(_ parts: [ArraySlice<UInt8>], at start: Int) throws(SystemError) {
        var offset = start
        var left = parts[...]
        while !left.isEmpty {
            let count = Self.withVectors(left) {
                pwritev(self.descriptor, $0.baseAddress, CInt($0.count), off_t(offset))
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemError("pwritev", self.path) }
            offset += count
            left.removeFirst(bytes: count)
        }
    }

    /// Erases the head of a record that was written in part, where it came so far. Its sequence
    /// goes to another record, perhaps in another segment, and a start must not find both.
    private func eraseHead(at offset: Int) throws(SystemError) {
        let bytes = try self.read(RecordHeader.byteCount, at: offset)
        let head = bytes.withUnsafeBytes { RecordHeader(at: 0, in: $0) }
        guard head?.salt == self.salt else { return }
        guard
            pwrite(self.descriptor, Self.padding, RecordHeader.byteCount, off_t(offset))
                == RecordHeader.byteCount
        else { throw SystemError("pwrite", self.path, EIO) }
        try self.sync()
    }

    /// Calls `body` with the addresses of all parts, which none of them leaves before it returns.
    private static func withVectors<Value>(
        _ parts: ArraySlice<ArraySlice<UInt8>>, _ vectors: [iovec] = [],
        _ body: (UnsafeBufferPointer<iovec>) -> Value
    ) -> Value {
        guard let first = parts.first else { return vectors.withUnsafeBufferPointer(body) }
        return first.withUnsafeBytes { bytes in
            let vector = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                iov_len: bytes.count)
            return Self.withVectors(parts.dropFirst(), vectors + [vector], body)
        }
    }

    private func sync() throws(SystemError) {
        while fdatasync(self.descriptor) != 0 {
            guard errno == EINTR else { throw SystemError("fdatasync", self.path) }
        }
    }

    // MARK: Reading

    /// Reads `count` bytes, fewer where the file ends before.
    func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let read = pread(
                    self.descriptor, buffer.baseAddress.map { $0 + filled }, count - filled,
                    off_t(offset + filled))
                if read < 0, errno == EINTR { continue }
                if read < 0 { failure = SystemError("pread", self.path) }
                if read <= 0 { return }
                filled += read
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// All its bytes.
    func contents() throws(SystemError) -> [UInt8] {
        var status = stat()
        guard fstat(self.descriptor, &status) == 0 else { throw SystemError("fstat", self.path) }
        self.fileBytes = Int(status.st_size)
        return try self.read(self.fileBytes, at: 0)
    }

    /// Removes the file, which nobody needs any more.
    func remove() { unlink(self.path) }
}

extension ArraySlice<ArraySlice<UInt8>> {
    /// Removes the first `bytes` bytes of the parts, and every part that is empty then.
    fileprivate mutating func removeFirst(bytes: Int) {
        var bytes = bytes
        while let first = self.first, first.count <= bytes {
            bytes -= first.count
            self.removeFirst()
        }
        if bytes > 0 { self[self.startIndex].removeFirst(bytes) }
    }
}
