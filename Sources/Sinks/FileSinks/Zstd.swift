internal import CZstd
internal import WireFormat

/// A failure of libzstd.
struct ZstdError: Error, CustomStringConvertible {
    let action: String
    let reason: String
    var description: String { "cannot \(self.action): \(self.reason)" }

    static func noMemory(_ action: String) -> Self { Self(action: action, reason: "no memory") }

    /// The result of a call.
    ///
    /// - Throws: if that is an error.
    static func check(_ result: Int, _ action: String) throws(ZstdError) -> Int {
        guard ZSTD_isError(result) != 0 else { return result }
        throw ZstdError(action: action, reason: String(cString: ZSTD_getErrorName(result)))
    }
}

/// Writes texts as frames of zstd (RFC 8878) with checksums. Its memory depends on the level, and
/// not on the texts.
final class ZstdWriter {
    private let context: OpaquePointer
    /// A part of a frame on its way to the file.
    private let part = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 8)

    /// Creates a writer of a level, 1 to 19.
    init(level: Int) throws(ZstdError) {
        guard let context = ZSTD_createCCtx() else { throw .noMemory("compress") }
        self.context = context
        try self.set(ZSTD_c_compressionLevel, to: level)
        try self.set(ZSTD_c_checksumFlag, to: 1)
    }

    deinit {
        ZSTD_freeCCtx(self.context)
        self.part.deallocate()
    }

    /// Writes a text as one frame; nothing for an empty text.
    ///
    /// - Returns: the frame's size.
    /// - Throws: `WriteError` or `ZstdError`; a part of the frame may have been written.
    func write(_ text: Bytes, to descriptor: CInt) throws -> Int {
        guard !text.isEmpty else { return 0 }
        // The frame before may have failed in the middle.
        _ = try ZstdError.check(
            ZSTD_CCtx_reset(self.context, ZSTD_reset_session_only), "compress")
        var input = ZSTD_inBuffer(src: text.baseAddress, size: text.count, pos: 0)
        var written = 0
        while true {
            var output = ZSTD_outBuffer(dst: self.part.baseAddress, size: self.part.count, pos: 0)
            let rest = try ZstdError.check(
                ZSTD_compressStream2(self.context, &output, &input, ZSTD_e_end), "compress")
            try FileWriter.write(Bytes(rebasing: self.part[..<output.pos]), to: descriptor)
            written += output.pos
            if rest == 0 { return written }
        }
    }

    private func set(_ parameter: ZSTD_cParameter, to value: Int) throws(ZstdError) {
        _ = try ZstdError.check(
            ZSTD_CCtx_setParameter(self.context, parameter, CInt(value)), "compress")
    }
}

/// Decodes a frame that comes in pieces, and tells whether it is sound.
final class ZstdCheck {
    private let context: OpaquePointer
    private let text = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 8)
    /// What is wrong with the frame; nil if nothing is.
    private(set) var damage: String?

    /// Creates a check of one frame.
    init() throws(ZstdError) {
        guard let context = ZSTD_createDCtx() else { throw .noMemory("decompress") }
        self.context = context
    }

    deinit {
        ZSTD_freeDCtx(self.context)
        self.text.deallocate()
    }

    /// Whether the frame is sound up to the end of this piece.
    func isSound(_ piece: Bytes) -> Bool {
        var input = ZSTD_inBuffer(src: piece.baseAddress, size: piece.count, pos: 0)
        while input.pos < input.size {
            var output = ZSTD_outBuffer(dst: self.text.baseAddress, size: self.text.count, pos: 0)
            do {
                _ = try ZstdError.check(
                    ZSTD_decompressStream(self.context, &output, &input), "decompress")
            } catch {
                self.damage = error.reason
                return false
            }
        }
        return true
    }
}
