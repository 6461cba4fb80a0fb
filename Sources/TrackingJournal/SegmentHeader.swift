// How a segment begins: one page that says what the file is, of which format, who wrote it, and
// which salt its records have. It stands there twice: no flipped byte hides what follows.
internal import CCRC32C

/// The head of a segment's file.
struct SegmentHeader {
    /// What the records of the present use have in common.
    let salt: UInt64
    /// The program that wrote it, as its own text.
    let program: String

    /// Records begin here: no write of a record tears the header's page.
    static let byteCount = 4096
    /// The format that this program writes. Format 0 has no header: its records begin at once.
    static let format: UInt32 = 1

    private static let magic = Array("sightlog".utf8)
    /// One sector, which a disk writes whole or not at all: magic (8), format (4), CRC-32C of the
    /// sector without these four bytes (4), salt (8), the program's name (64), zeros.
    private static let copyBytes = 512
    private static let copyOffsets = [0, byteCount / 2]
    private static let checksumRange = 12..<16
    private static let programRange = 24..<88

    /// The page.
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

/// What the first page of a file says.
enum SegmentStart {
    /// Nothing has been written, or nothing has come to the disk.
    case blank
    /// A segment of this format. More than one salt where a crash came between the two copies, or
    /// none where they cannot be read.
    case segment(salts: [UInt64], isWhole: Bool)
    /// A segment of a format that this program does not know.
    case newer(format: UInt32, program: String)
    /// Something else: a segment of format 0, or no segment at all.
    case other

    /// Reads a file's first page.
    init(_ page: ArraySlice<UInt8>) {
        guard page.contains(where: { $0 != 0 }) else {
            self = .blank
            return
        }
        let copies = SegmentHeader.copies(in: page)
        if let newer = copies.first(where: { $0.format > SegmentHeader.format }) {
            self = .newer(format: newer.format, program: newer.header.program)
        } else if copies.isEmpty {
            // A crash may have come within the first write of a new file.
            self = SegmentHeader.begins(page) ? .segment(salts: [], isWhole: false) : .other
        } else {
            let salts = copies.map(\.header.salt)
            self = .segment(salts: salts, isWhole: salts.count == 2 && salts[0] == salts[1])
        }
    }
}

extension SegmentHeader {
    /// Whether one of the copies begins in a page, were it only with some bytes of its magic: a
    /// write may have ended there, and of what it wrote a power cut leaves any sectors.
    fileprivate static func begins(_ page: ArraySlice<UInt8>) -> Bool {
        Self.copyOffsets.contains { offset in
            let start = page.dropFirst(offset).prefix(Self.magic.count)
            let written = start.prefix { $0 != 0 }
            return !written.isEmpty && Self.magic.starts(with: written)
                && start.dropFirst(written.count).allSatisfy { $0 == 0 }
        }
    }

    /// The copies in a page whose checksum is right.
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
