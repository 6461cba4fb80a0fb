internal import CZstd
internal import Glibc

/// Reads the text of a file in pieces, plain or compressed, up to the size that it had when it was
/// opened; or the plain text of a pipe up to its end.
struct ArchivedText: ~Copyable {
    enum Failure: Error, CustomStringConvertible {
        case longLine
        case cutFrame

        var description: String {
            switch self {
            case .cutFrame:
                "it is cut: it ends within a zstd frame, as a part of a file does, or one that a "
                    + "server is just writing"
            case .longLine: "it has a line of over \(ArchivedHits.maxLineBytes) bytes"
            }
        }
    }

    private let descriptor: CInt
    /// The bytes of the file that have not been read.
    private var left: Int
    /// Decompresses; nil for plain text.
    private let zstd: OpaquePointer?
    /// Compressed bytes, and the next one that is not decompressed.
    private var piece: [UInt8] = []
    private var position = 0
    /// Whether zstd may have more text without more bytes.
    private var hasMore = false
    /// Whether a frame has begun, and its end is still to come.
    private var isInFrame = false

    init(path: String) throws {
        // Never waits, as for the other end of a pipe, of which the size is an error then.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw WriteError(number: errno, action: "open it") }
        let size = lseek(descriptor, 0, SEEK_END)
        guard size >= 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            defer { close(descriptor) }
            throw WriteError(number: errno, action: "read it")
        }
        var zstd: OpaquePointer?
        if path.hasSuffix(".zst") {
            zstd = ZSTD_createDCtx()
            guard zstd != nil else {
                close(descriptor)
                throw ZstdError.noMemory("decompress")
            }
        }
        (self.descriptor, self.left, self.zstd) = (descriptor, Int(size), zstd)
    }

    /// Reads a copy of a descriptor to its end.
    init(copyOf descriptor: CInt) throws {
        let copy = dup(descriptor)
        guard copy >= 0 else { throw WriteError(number: errno, action: "read it") }
        (self.descriptor, self.left, self.zstd) = (copy, Int.max, nil)
    }

    deinit {
        close(self.descriptor)
        if let zstd = self.zstd { ZSTD_freeDCtx(zstd) }
    }

    /// Appends the next piece of text, which may be empty.
    ///
    /// - Returns: false at the end.
    /// - Throws: `Failure.cutFrame` at an end within a frame, `WriteError`, or `ZstdError`.
    mutating func append(to text: inout [UInt8], atMost count: Int) throws -> Bool {
        guard let zstd = self.zstd else {
            let bytes = try self.read(count)
            text += bytes
            return !bytes.isEmpty
        }
        if self.position == self.piece.count, !self.hasMore {
            self.piece = try self.read(count)
            self.position = 0
            if self.piece.isEmpty {
                guard !self.isInFrame else { throw Failure.cutFrame }
                return false
            }
        }
        let start = self.position
        let (written, rest) = try Self.decompress(self.piece, &self.position, count, zstd)
        self.hasMore = written.count == count
        // Without new bytes after a frame's end zstd asks for the next frame, which need not come.
        if self.isInFrame || self.position > start { self.isInFrame = rest > 0 }
        text += written
        return true
    }

    /// The next bytes of the file; none at the end.
    private mutating func read(_ count: Int) throws -> [UInt8] {
        let wanted = min(count, self.left)
        guard wanted > 0 else { return [] }
        let descriptor = self.descriptor
        let bytes = try [UInt8](unsafeUninitializedCapacity: wanted) { buffer, initialized in
            var result = Glibc.read(descriptor, buffer.baseAddress, wanted)
            while result < 0, errno == EINTR {
                result = Glibc.read(descriptor, buffer.baseAddress, wanted)
            }
            guard result >= 0 else { throw WriteError(number: errno, action: "read it") }
            initialized = result
        }
        // A file that was cut ends there.
        self.left = bytes.isEmpty ? 0 : self.left - bytes.count
        return bytes
    }

    /// At most `count` bytes of text from `piece` at `position`, which moves; and 0 if a frame has
    /// ended.
    private static func decompress(
        _ piece: [UInt8], _ position: inout Int, _ count: Int, _ zstd: OpaquePointer
    ) throws -> (text: [UInt8], rest: Int) {
        var (next, rest) = (position, 0)
        let text = try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            try piece.withUnsafeBytes { bytes in
                var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: next)
                var output = ZSTD_outBuffer(dst: buffer.baseAddress, size: count, pos: 0)
                rest = try ZstdError.check(
                    ZSTD_decompressStream(zstd, &output, &input), "decompress it")
                (next, initialized) = (input.pos, output.pos)
            }
        }
        position = next
        return (text, rest)
    }
}
