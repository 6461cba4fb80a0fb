// What a segment's bytes say when they are read back.
internal import CCRC32C
internal import Glibc

/// A record that was found in a segment.
struct FoundRecord {
    let header: RecordHeader
    let offset: Int
    /// Whether its body is what was written.
    let isWhole: Bool

    /// The records of a segment in order. Each commit is on disk before the next one is written, so
    /// at most the last record is half there. Where one before others is damaged, those after it
    /// are found by their salt.
    static func all(in bytes: UnsafeRawBufferPointer) -> [Self] {
        var found: [Self] = []
        guard var next = Self(at: 0, in: bytes) else { return [] }
        while true {
            found.append(next)
            let end = next.offset + next.header.recordBytes
            guard let following = Self.first(after: next, from: end, in: bytes) else {
                return found
            }
            next = following
        }
    }

    /// The record that stands at `offset`, with this salt where one is asked for.
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

    /// The first record of the same salt and a higher sequence that begins at `offset` or later.
    private static func first(
        after last: Self, from offset: Int, in bytes: UnsafeRawBufferPointer
    ) -> Self? {
        guard let base = bytes.baseAddress else { return nil }
        let salt = last.header.salt
        var start = offset + RecordHeader.saltOffset
        while start < bytes.count,
            let place = memchr(base + start, CInt(salt & 0xff), bytes.count - start)
        {
            let saltOffset = UnsafeRawPointer(place) - base
            let found = Self(
                at: saltOffset - RecordHeader.saltOffset, in: bytes, salt: salt)
            if let found, found.header.sequence > last.header.sequence { return found }
            start = saltOffset + 1
        }
        return nil
    }
}
