internal import Glibc
internal import WireFormat

/// The frames of zstd (RFC 8878) in a file, read in pieces: the file may be larger than memory.
struct ZstdFrames {
    /// What stands at the end of a file.
    enum Tail: Equatable {
        /// A whole frame, or nothing in an empty file.
        case whole
        /// What a crash leaves of an append, from this offset on: the beginning of a frame, or
        /// space that was never written.
        case torn(at: Int)
        /// Other bytes, from this offset on.
        case unknown(at: Int, reason: String)
    }

    private enum Frame {
        case whole(end: Int)
        case incomplete
        case none
    }

    /// The first four bytes of a frame.
    private static let magic: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd]
    /// The largest block that the format allows.
    private static let blockBytes = 128 << 10
    private static let pieceBytes = 64 << 10

    private let descriptor: CInt
    private let size: Int
    /// A piece of the file, and its offset there.
    private var piece: [UInt8] = []
    private var pieceStart = 0

    /// Reads a file of `size` bytes.
    init(of descriptor: CInt, size: Int) { (self.descriptor, self.size) = (descriptor, size) }

    /// Walks from frame to frame, and decodes the last whole one.
    ///
    /// An incomplete frame at the end was never synced, so none of its lines counts as delivered.
    /// Of other damage nobody can tell whether it came before or after the sync: a power cut may
    /// have kept a frame's size and not its bytes, but a disk may also have changed them later.
    ///
    /// - Throws: `WriteError` if the file cannot be read, `ZstdError` if there is no memory.
    mutating func tail() throws -> Tail {
        var (last, end, tail) = (0, 0, Tail.whole)
        while tail == .whole, end < self.size {
            switch try self.frame(at: end) {
            case .whole(let next): (last, end) = (end, next)
            case .incomplete:
                // A frame that others follow was not the last append.
                tail =
                    try self.hasFrame(after: end)
                    ? .unknown(at: end, reason: "a damaged frame before others") : .torn(at: end)
            case .none:
                tail =
                    try self.isZero(from: end)
                    ? .torn(at: end) : .unknown(at: end, reason: "no frame of zstd")
            }
        }
        if case .unknown = tail { return tail }
        // What is appended behind a frame that cannot be decoded is out of a reader's reach.
        guard let damage = try self.damage(in: last..<end) else { return tail }
        return .unknown(at: last, reason: damage)
    }

    // MARK: Frames

    private mutating func frame(at start: Int) throws(WriteError) -> Frame {
        for (index, byte) in Self.magic.enumerated() {
            guard start + index < self.size else { return .incomplete }
            guard try self.number(at: start + index, bytes: 1) == byte else { return .none }
        }
        guard start + 4 < self.size else { return .incomplete }
        let flags = try self.number(at: start + 4, bytes: 1)
        // The reserved bit, and the size of a dictionary's id.
        guard flags & 0b1011 == 0 else { return .none }
        let isSingleSegment = flags >> 5 & 1
        let contentSizeBytes = [isSingleSegment, 2, 4, 8][flags >> 6]
        var offset = start + 5 + (1 - isSingleSegment) + contentSizeBytes
        var isLast = false
        while !isLast {
            guard offset + 3 <= self.size else { return .incomplete }
            let header = try self.number(at: offset, bytes: 3)
            let (type, bytes) = (header >> 1 & 3, header >> 3)
            guard type < 3, bytes <= Self.blockBytes else { return .none }
            // A block of type 1 is a byte to repeat.
            offset += 3 + (type == 1 ? 1 : bytes)
            isLast = header & 1 == 1
        }
        let checksumBytes = flags & 0b100 == 0 ? 0 : 4
        offset += checksumBytes
        return offset <= self.size ? .whole(end: offset) : .incomplete
    }

    private mutating func hasFrame(after start: Int) throws(WriteError) -> Bool {
        let magic = Self.magic.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        return try !self.allPieces(of: start + 1..<self.size, overlap: 3) { bytes in
            (0..<max(0, bytes.count - 3)).allSatisfy {
                bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self) != magic
            }
        }
    }

    private mutating func isZero(from start: Int) throws(WriteError) -> Bool {
        try self.allPieces(of: start..<self.size) { bytes in bytes.allSatisfy { $0 == 0 } }
    }

    /// What is wrong with a frame; nil if its checksum is right.
    private mutating func damage(in frame: Range<Int>) throws -> String? {
        guard !frame.isEmpty else { return nil }
        let check = try ZstdCheck()
        _ = try self.allPieces(of: frame) { check.isSound($0) }
        return check.damage
    }

    // MARK: Bytes

    /// A number of up to seven bytes, the lowest first.
    private mutating func number(at offset: Int, bytes: Int) throws(WriteError) -> Int {
        if offset < self.pieceStart || offset + bytes > self.pieceStart + self.piece.count {
            try self.load(offset)
        }
        let first = offset - self.pieceStart
        return (0..<bytes).reduce(0) { $0 | Int(self.piece[first + $1]) << (8 * $1) }
    }

    /// Whether a test holds for all pieces of a part. They begin with the last `overlap` bytes of
    /// the piece before.
    private mutating func allPieces(
        of part: Range<Int>, overlap: Int = 0, _ test: (Bytes) -> Bool
    ) throws(WriteError) -> Bool {
        var offset = part.lowerBound
        while offset < part.upperBound {
            try self.load(offset)
            let count = min(self.piece.count, part.upperBound - offset)
            let holds = self.piece.withUnsafeBytes { test(Bytes(rebasing: $0[..<count])) }
            guard holds else { return false }
            offset += offset + count < part.upperBound ? count - overlap : count
        }
        return true
    }

    /// Reads the piece at an offset.
    private mutating func load(_ offset: Int) throws(WriteError) {
        let count = min(Self.pieceBytes, self.size - offset)
        self.piece = [UInt8](repeating: 0, count: count)
        self.pieceStart = offset
        var loaded = 0
        while loaded < count {
            let bytes = self.piece.withUnsafeMutableBytes { piece in
                pread(
                    self.descriptor, piece.baseAddress?.advanced(by: loaded), count - loaded,
                    offset + loaded)
            }
            if bytes > 0 {
                loaded += bytes
            } else if bytes == 0 || errno != EINTR {
                throw WriteError(number: bytes == 0 ? EIO : errno, action: "read")
            }
        }
    }
}
