internal import CCRC32C

/// A record's header: 48 bytes, little-endian. The body follows: what is added to the ledger, if
/// anything, the window's keys, and the payload.
struct RecordHeader: Equatable {
    /// Drawn at random each time that a segment is reused, so that neither an old record nor a
    /// payload crafted by a client is taken for a record.
    var salt: UInt64
    /// Increases by one with each record.
    var sequence: Int64
    /// In microseconds since 1970.
    var createTime: Int64
    var eventCount: Int
    /// The number of events in all records up to this one, modulo 2³². The difference
    /// of two records is the number of events that the records between them held.
    var eventTotal: UInt32
    /// The bytes of the ledger's part and of the keys.
    var keyBytes: Int
    /// Whether the body begins with the ledger's part: its length (4), and its rows.
    var hasLedger = false
    var payloadBytes: Int
    /// The CRC-32C of the body.
    var bodyChecksum: UInt32

    static let byteCount = 48
    /// The bit of the number of key bytes that encodes `hasLedger`.
    private static let ledgerBit: UInt32 = 1 << 31
    /// The valid sequences; far enough from the maximum that counting on cannot overflow.
    private static let sequences: ClosedRange<Int64> = 1...1 << 62

    var bodyBytes: Int { self.keyBytes + self.payloadBytes }
    var recordBytes: Int { Self.byteCount + self.bodyBytes }

    /// Encodes the header; the first four bytes are the CRC-32C of the rest.
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
        append(UInt32(truncatingIfNeeded: self.keyBytes) | (self.hasLedger ? Self.ledgerBit : 0))
        append(UInt32(truncatingIfNeeded: self.payloadBytes))
        append(self.eventTotal)
        let checksum = bytes.withUnsafeBytes { sightline_crc32c(0, $0.baseAddress, $0.count) }
        return withUnsafeBytes(of: checksum.littleEndian) { $0 + bytes }
    }
}

extension RecordHeader {
    /// Parses the header at `offset`; nil if there is no valid one.
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
            eventTotal: value(44, UInt32.self),
            keyBytes: Int(value(36, UInt32.self) & ~Self.ledgerBit),
            hasLedger: value(36, UInt32.self) & Self.ledgerBit != 0,
            payloadBytes: Int(value(40, UInt32.self)), bodyChecksum: value(4, UInt32.self))
    }

    /// The offset of the salt in a header.
    static let saltOffset = 8
}
