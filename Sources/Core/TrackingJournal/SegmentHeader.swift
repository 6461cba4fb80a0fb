internal import CCRC32C
internal import Storage

/// The header of a segment: one page with the format, the program and the salt of its records. It
/// holds two copies, so that a flipped bit does not hide the records.
struct SegmentHeader {
    /// The salt of all records since the segment was last reused.
    let salt: UInt64
    /// The name and version of the program that wrote it.
    let program: String

    /// Records begin here, so that no torn write of a record damages the header's page.
    static let byteCount = 4096
    /// The format that this program writes.
    static let format = 1

    private static let magic = Array("sightseg".utf8)
    /// The magic in builds before formats were numbered from 1, which had formats 1 and 2.
    private static let formerMagic = Array("sightlog".utf8)
    private static let formatOffset = 8
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
            $0.storeBytes(
                of: UInt32(Self.format).littleEndian, toByteOffset: Self.formatOffset,
                as: UInt32.self)
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
    /// A segment of this format. It has two salts after a crash between writing the copies, and
    /// none if neither copy can be read.
    case segment(salts: [UInt64], isWhole: Bool)
    /// A segment of another build, or another program's file.
    case other(FileFormatError.Found)

    /// Parses a file's first page.
    init(_ page: ArraySlice<UInt8>) {
        guard page.contains(where: { $0 != 0 }) else {
            self = .blank
            return
        }
        let copies = SegmentHeader.copies(in: page)
        if let newer = copies.first(where: { $0.format != SegmentHeader.format }) {
            self = .other(.newer(newer.format, program: newer.header.program))
        } else if !copies.isEmpty {
            let salts = copies.map(\.header.salt)
            self = .segment(salts: salts, isWhole: salts.count == 2 && salts[0] == salts[1])
        } else if SegmentHeader.begins(page) {
            // A crash may have interrupted the first write of a new file.
            self = .segment(salts: [], isWhole: false)
        } else if let format = SegmentHeader.formerFormat(of: page) {
            self = .other(.former(format))
        } else {
            self = .other(
                .unknown(
                    "does not begin as a segment does: it is another program's, of a build before "
                        + "formats were numbered from 1, or damaged at both places that say what "
                        + "it is"))
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

    /// The format of a segment of a build before formats were numbered from 1; nil for other pages.
    fileprivate static func formerFormat(of page: ArraySlice<UInt8>) -> Int? {
        Self.copyOffsets.lazy.map { page.dropFirst($0).prefix(Self.copyBytes) }
            .first { $0.count == Self.copyBytes && $0.starts(with: Self.formerMagic) }
            .map { copy in copy.withUnsafeBytes(Self.format) }
    }

    private static func format(in copy: UnsafeRawBufferPointer) -> Int {
        Int(
            UInt32(
                littleEndian: copy.loadUnaligned(
                    fromByteOffset: Self.formatOffset, as: UInt32.self)))
    }

    /// The copies with a valid checksum.
    fileprivate static func copies(
        in page: ArraySlice<UInt8>
    ) -> [(format: Int, header: SegmentHeader)] {
        Self.copyOffsets.compactMap { offset in
            let start = page.startIndex + offset
            guard start + Self.copyBytes <= page.endIndex else { return nil }
            return Self.copy(page[start..<start + Self.copyBytes])
        }
    }

    private static func copy(
        _ copy: ArraySlice<UInt8>
    ) -> (format: Int, header: SegmentHeader)? {
        guard copy.starts(with: Self.magic) else { return nil }
        return copy.withUnsafeBytes { bytes in
            func number<Value: FixedWidthInteger>(_ offset: Int, _: Value.Type) -> Value {
                Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
            }
            let checksum = number(Self.checksumRange.lowerBound, UInt32.self)
            guard checksum == Self.checksum(copy) else { return nil }
            let program = bytes[Self.programRange].prefix { $0 != 0 }
            return (
                Self.format(in: bytes),
                SegmentHeader(
                    salt: number(16, UInt64.self),
                    program: String(decoding: program, as: UTF8.self))
            )
        }
    }
}
