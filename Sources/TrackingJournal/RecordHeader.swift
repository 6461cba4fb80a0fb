// How a record begins in a segment: 48 bytes, little-endian, and then its body, which is the
// window's keys and after them the payload.
internal import CCRC32C

/// The head of one record: of one group of requests.
struct RecordHeader: Equatable {
    /// Drawn anew each time that a segment is written from its start: what an earlier use left
    /// there, or a client has put into a payload, is never taken for a record.
    var salt: UInt64
    /// Rises by one from record to record.
    var sequence: Int64
    /// In microseconds since 1970.
    var createTime: Int64
    var eventCount: Int
    /// Events in all records up to this one, modulo 2³²: tells how many a lost record held. 0 in
    /// segments of format 0.
    var eventTotal: UInt32
    var keyBytes: Int
    var payloadBytes: Int
    /// CRC-32C of the body.
    var bodyChecksum: UInt32

    /// Bytes of a header.
    static let byteCount = 48
    /// What counts on from any of these does not overflow.
    private static let sequences: ClosedRange<Int64> = 1...1 << 62

    var bodyBytes: Int { self.keyBytes + self.payloadBytes }
    var recordBytes: Int { Self.byteCount + self.bodyBytes }

    /// The header's bytes; the first four are the CRC-32C of the others.
    func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
        }
        append(self.bodyChecksum)
        append(self.salt)
        append(self.sequence)
        append(self.createTime)
        append(UInt32(truncatingIfNeeded: self.eventCount))
        append(UInt32(truncatingIfNeeded: self.keyBytes))
        append(UInt32(truncatingIfNeeded: self.payloadBytes))
        append(self.eventTotal)
        let checksum = bytes.withUnsafeBytes { sightline_crc32c(0, $0.baseAddress, $0.count) }
        return withUnsafeBytes(of: checksum.littleEndian) { $0 + bytes }
    }
}

extension RecordHeader {
    /// The header that stands at `offset`; nil where none stands there.
    init?(at offset: Int, in bytes: UnsafeRawBufferPointer) {
        guard offset >= 0, bytes.count - offset >= Self.byteCount else { return nil }
        let header = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Self.byteCount])
        func value<Value: FixedWidthInteger>(_ offset: Int, _: Value.Type) -> Value {
            Value(littleEndian: header.loadUnaligned(fromByteOffset: offset, as: Value.self))
        }
        let checked = UnsafeRawBufferPointer(rebasing: header[4...])
        let sequence = value(16, Int64.self)
        guard value(0, UInt32.self) == sightline_crc32c(0, checked.baseAddress, checked.count),
            Self.sequences.contains(sequence)
        else { return nil }
        self.init(
            salt: value(8, UInt64.self), sequence: sequence,
            createTime: value(24, Int64.self), eventCount: Int(value(32, UInt32.self)),
            eventTotal: value(44, UInt32.self), keyBytes: Int(value(36, UInt32.self)),
            payloadBytes: Int(value(40, UInt32.self)), bodyChecksum: value(4, UInt32.self))
    }

    /// Where a header keeps its salt.
    static let saltOffset = 8
}
