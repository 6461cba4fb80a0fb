internal import CCRC32C
internal import Glibc

/// A record found in a segment at startup.
struct FoundRecord {
    let header: RecordHeader
    let offset: Int
    /// Whether the body matches its checksum.
    let isWhole: Bool

    /// The offset after the record, where the next one begins.
    var endOffset: Int { self.offset + self.header.recordBytes }

    /// The records with a salt, in order. A commit is durable before the next one is written, so
    /// only the last record can be incomplete. After a damaged record the search continues: the
    /// salt identifies the records that follow.
    static func all(
        in bytes: UnsafeRawBufferPointer, from start: Int, salt: UInt64
    ) -> [Self] {
        var found: [Self] = []
        var (offset, sequence) = (start, Int64(0))
        while let next = Self.first(of: salt, after: sequence, from: offset, in: bytes) {
            found.append(next)
            (offset, sequence) = (next.endOffset, next.header.sequence)
        }
        return found
    }

    /// Parses the record at `offset`; nil if there is none, or if its salt differs from `salt`.
    init?(at offset: Int, in bytes: UnsafeRawBufferPointer, salt: UInt64? = nil) {
        guard let header = RecordHeader(at: offset, in: bytes),
            salt == nil || salt == header.salt
        else { return nil }
        self.header = header
        self.offset = offset
        let start = offset + RecordHeader.byteCount
        guard bytes.count - start >= header.bodyBytes else {
            self.isWhole = false
            return
        }
        let body = UnsafeRawBufferPointer(rebasing: bytes[start..<start + header.bodyBytes])
        self.isWhole =
            sightline_crc32c(0, body.baseAddress, body.count) == header.bodyChecksum
    }

    /// The first record at or after `offset` with a salt and a higher sequence.
    private static func first(
        of salt: UInt64, after sequence: Int64, from offset: Int,
        in bytes: UnsafeRawBufferPointer
    ) -> Self? {
        guard let base = bytes.baseAddress else { return nil }
        var start = offset + RecordHeader.saltOffset
        while start < bytes.count,
            let place = memchr(base + start, CInt(salt & 0xff), bytes.count - start)
        {
            let saltOffset = UnsafeRawPointer(place) - base
            let found = Self(
                at: saltOffset - RecordHeader.saltOffset, in: bytes, salt: salt)
            if let found, found.header.sequence > sequence { return found }
            start = saltOffset + 1
        }
        return nil
    }
}
