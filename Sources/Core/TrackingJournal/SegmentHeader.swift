internal import CCRC32C

/// The header of a segment: one page with the format, the program and the salt of its records. It
/// holds two copies, so that a flipped bit does not hide the records.
struct SegmentHeader {
    /// The salt of all records since the segment was last reused.
    let salt: UInt64
    /// The name and version of the program that wrote it.
    let program: String

    /// Records begin here, so that no torn write of a record damages the header's page.
    static let byteCount = 4096
    /// The format that this program writes. Format 0 has no header, and records of format 1 add
    /// nothing to the ledger.
    static let format: UInt32 = 2

    private static let magic = Array("sightlog".utf8)
    /// The size of a copy: one sector, which a disk writes atomically. Magic (8), format (4),
    /// CRC-32C of the sector without these four bytes (4), salt (8), the program's name (64),
    /// zeros.
    private static let copyBytes = 512
    private static let copyOffsets = [0, byteCount / 2]
    private static let checksumRange = 12..<16
    private static let programRange = 24..<88

    /// Encodes the page.
    func encoded() -> [UInt8] {
        var copy = [UInt8](repeating: 0, count: Self.copyBytes)
        copy.replaceSubrange(0..<8, with: Self.magic)
        copy.withUnsafeMutableBytes {
            $0.storeBytes(of: Self.format.littleEndian, toByteOffset: 8, as: UInt32.self)
            $0.storeBytes(of: self.salt.littleEndian, toByteOffset: 16, as: UInt64.self)
        }
        let program = Array(self.program.utf8.prefix(Self.programRange.count))
        copy.replaceSubrange(
            Self.programRange.lowerBound..<Self.programRange.lowerBound + program.count,
            with: program)
        let checksum = Self.checksum(copy[...])
        copy.withUnsafeMutableBytes {
            $0.storeBytes(
                of: checksum.littleEndian, toByteOffset: Self.checksumRange.lowerBound,
                as: UInt32.self)
        }
        var page = [UInt8](repeating: 0, count: Self.byteCount)
        for offset in Self.copyOffsets {
            page.replaceSubrange(offset..<offset + copy.count, with: copy)
        }
        return page
    }

    private static func checksum(_ copy: ArraySlice<UInt8>) -> UInt32 {
        let start = copy.startIndex
        let parts = [
            copy[start..<start + Self.checksumRange.lowerBound],
            copy[(start + Self.checksumRange.upperBound)...],
        ]
        return parts.reduce(0) { checksum, part in
            part.withUnsafeBytes { sightline_crc32c(checksum, $0.baseAddress, $0.count) }
        }
    }
}

/// The contents of a file's first page.
enum SegmentStart {
    /// Only zeros: nothing was written, or nothing reached the disk.
    case blank
    /// A segment of this format, or of format 1 (`isOlder`). It has two salts after a crash between
    /// writing the copies, and none if neither copy can be read.
    case segment(salts: [UInt64], isWhole: Bool, isOlder: Bool = false)
    /// A segment of a newer format.
    case newer(format: UInt32, program: String)
    /// A segment of format 0, or another program's file.
    case other

    /// Parses a file's first page.
    init(_ page: ArraySlice<UInt8>) {
        guard page.contains(where: { $0 != 0 }) else {
            self = .blank
            return
        }
        let copies = SegmentHeader.copies(in: page)
        if let newer = copies.first(where: { $0.format > SegmentHeader.format }) {
            self = .newer(format: newer.format, program: newer.header.program)
        } else if copies.isEmpty {
            // A crash may have interrupted the first write of a new file.
            self = SegmentHeader.begins(page) ? .segment(salts: [], isWhole: false) : .other
        } else {
            let salts = copies.map(\.header.salt)
            self = .segment(
                salts: salts, isWhole: salts.count == 2 && salts[0] == salts[1],
                isOlder: copies.contains { $0.format < SegmentHeader.format })
        }
    }
}

extension SegmentHeader {
    /// Whether a copy may begin in the page, even if only some bytes of its magic are there: a
    /// crash can leave any sectors of a write.
    fileprivate static func begins(_ page: ArraySlice<UInt8>) -> Bool {
        Self.copyOffsets.contains { offset in
            let start = page.dropFirst(offset).prefix(Self.magic.count)
            let written = start.prefix { $0 != 0 }
            return !written.isEmpty && Self.magic.starts(with: written)
                && start.dropFirst(written.count).allSatisfy { $0 == 0 }
        }
    }

    /// The copies with a valid checksum.
    fileprivate static func copies(
        in page: ArraySlice<UInt8>
    ) -> [(format: UInt32, header: SegmentHeader)] {
        Self.copyOffsets.compactMap { offset in
            let start = page.startIndex + offset
            guard start + Self.copyBytes <= page.endIndex else { return nil }
            return Self.copy(page[start..<start + Self.copyBytes])
        }
    }

    private static func copy(
        _ copy: ArraySlice<UInt8>
    ) -> (format: UInt32, header: SegmentHeader)? {
        guard copy.starts(with: Self.magic) else { return nil }
        return copy.withUnsafeBytes { bytes in
            func number<Value: FixedWidthInteger>(_ offset: Int, _: Value.Type) -> Value {
                Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
            }
            let checksum = number(Self.checksumRange.lowerBound, UInt32.self)
            guard checksum == Self.checksum(copy) else { return nil }
            let program = bytes[Self.programRange].prefix { $0 != 0 }
            return (
                number(8, UInt32.self),
                SegmentHeader(
                    salt: number(16, UInt64.self),
                    program: String(decoding: program, as: UTF8.self))
            )
        }
    }
}
