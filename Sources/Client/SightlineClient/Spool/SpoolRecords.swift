/// The format of a spool's file: a magic, followed by records. A record is the length of an event's
/// bytes and the CRC-32 of length and bytes, both 4 bytes little-endian, and then the bytes. The
/// checksum covers the length, so that a tail of zeros, which a power cut may leave, is not a
/// record.
package enum SpoolRecords {
    /// The first bytes of a file.
    package static let magic = Array("SLSPOOL1".utf8)
    /// The bytes of a record apart from its event.
    package static let headByteCount = 8

    /// The events of a file.
    package struct Found: Sendable, Equatable {
        /// The bytes of each event, in order.
        package var events: [[UInt8]] = []
        /// The end of the last complete record; 0 without a magic.
        package var end = 0
    }

    /// An event's record, and its head.
    package static func record(of event: [UInt8]) -> (bytes: [UInt8], head: UInt64) {
        let head = self.head(of: event)
        return (self.bytes(of: head) + event, head)
    }

    /// The head of an event's record: its length, and the checksum in the upper half. It is never
    /// 0, so a gap among marks is not a mark.
    static func head(of event: [UInt8]) -> UInt64 {
        let length = UInt32(event.count)
        var checksum = CRC32()
        checksum.update(self.bytes(of: length))
        checksum.update(event)
        return UInt64(checksum.value) << 32 | UInt64(length)
    }

    /// Reads a file up to its end, or to its first incomplete record. Such a record is a torn tail,
    /// never synced, if `mayBeTorn` is set and no complete record follows it.
    ///
    /// - Throws: `Damage`.
    package static func read(_ bytes: [UInt8], mayBeTorn: Bool) throws(Damage) -> Found {
        var found = Found()
        guard bytes.starts(with: self.magic) else {
            let start = zip(bytes, self.magic).prefix { $0 == $1 }.count
            let isTorn = bytes[start...].allSatisfy { $0 == 0 }
            guard mayBeTorn, isTorn else { throw Damage(byte: 0) }
            return found
        }
        found.end = self.magic.count
        while let event = self.event(at: found.end, of: bytes) {
            found.events.append(Array(event))
            found.end = event.endIndex
        }
        if found.end < bytes.count {
            guard mayBeTorn, !self.isFollowed(found.end, in: bytes) else {
                throw Damage(byte: found.end)
            }
        }
        return found
    }

    /// Where a file is damaged.
    package struct Damage: Error, Equatable {
        /// The offset of the incomplete record.
        package let byte: Int

        /// Creates the error.
        package init(byte: Int) { self.byte = byte }
    }

    /// Whether a complete record follows the incomplete one anywhere: the length may be the damaged
    /// part.
    private static func isFollowed(_ place: Int, in bytes: [UInt8]) -> Bool {
        (place + 1..<bytes.count).contains { self.event(at: $0, of: bytes) != nil }
    }

    private static func event(at place: Int, of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        let start = place + self.headByteCount
        guard let length = self.number(at: place, of: bytes),
            let expected = self.number(at: place + 4, of: bytes),
            Int(length) <= bytes.count - start
        else { return nil }
        let event = bytes[start..<start + Int(length)]
        var checksum = CRC32()
        checksum.update(bytes[place..<place + 4])
        checksum.update(event)
        return checksum.value == expected ? event : nil
    }

    private static func number(at place: Int, of bytes: [UInt8]) -> UInt32? {
        guard place <= bytes.count - 4 else { return nil }
        return bytes[place..<place + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The bytes of a number, the lowest first.
    static func bytes<Number: FixedWidthInteger>(of number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
