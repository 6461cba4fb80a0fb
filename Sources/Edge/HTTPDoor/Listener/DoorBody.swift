internal import CZstd
internal import HTTP2Edge
internal import HTTPTypes
package import NIOCore
internal import WireFormat

/// Why a body cannot be decoded.
package enum DoorBodyError: Error, Equatable {
    /// `content-encoding` names no encoding of the door, or several; its value, shortened.
    case unknownEncoding(String)
    /// The body is not whole in that encoding, or other bytes follow it.
    case damaged(String)
    /// The decoded body has more bytes than it may have.
    case tooLarge(limit: Int)
}

/// The body of a request, decoded from its `content-encoding`.
package enum DoorBody {
    /// The encodings that a body may have, for messages and `accept-encoding`.
    package static let encodings = "gzip, zstd"

    /// The body without its encoding. An empty one is never decoded: some clients name an encoding
    /// and send nothing.
    ///
    /// - Parameter maxBytes: the maximum bytes of the decoded body.
    package static func decoded(
        _ request: DoorRequest, maxBytes: Int
    ) throws(DoorBodyError) -> ByteBuffer {
        let body = request.body
        guard body.readableBytes > 0 else { return body }
        let encodings = request.headers[values: .contentEncoding]
        let encoding = encodings.joined(separator: ", ")
        switch encoding.lowercased() {
        case "", "identity":
            guard body.readableBytes <= maxBytes else { throw .tooLarge(limit: maxBytes) }
            return body
        case "gzip", "x-gzip": return try Self.inflated(body, maxBytes: maxBytes)
        case "zstd": return try Self.decompressed(body, maxBytes: maxBytes)
        default: throw .unknownEncoding(encoding.cut(toScalars: 64))
        }
    }

    private static func inflated(
        _ body: ByteBuffer, maxBytes: Int
    ) throws(DoorBodyError) -> ByteBuffer {
        // Without memory for an inflater, nothing can be said of the body either.
        guard let inflater = Inflater("gzip", maxBytes: maxBytes) else { throw .damaged("gzip") }
        do throws(InflateFailure) {
            return try inflater.inflate(body)
        } catch {
            switch error {
            case .tooLarge: throw .tooLarge(limit: maxBytes)
            case .flag, .malformed: throw .damaged("gzip")
            }
        }
    }

    /// The largest window of a frame, 8 MiB: what every decoder has to have (RFC 9659).
    private static let maxWindowLog: Int32 = 23

    /// Decompresses frames of zstd, one after another (RFC 8878, section 3).
    private static func decompressed(
        _ body: ByteBuffer, maxBytes: Int
    ) throws(DoorBodyError) -> ByteBuffer {
        guard let context = ZSTD_createDCtx() else { throw .damaged("zstd") }
        defer { ZSTD_freeDCtx(context) }
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.maxWindowLog)
        var plain = ByteBuffer()
        var failure: DoorBodyError?
        body.withUnsafeReadableBytes { bytes in
            var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
            // Each step takes or gives a byte at least, or is the last one.
            while true {
                // One byte beyond the limit distinguishes a body that fits exactly.
                let room = min(max(4096, plain.readableBytes), maxBytes + 1 - plain.readableBytes)
                let (rest, progress) = Self.step(context, &input, into: &plain, room: room)
                guard ZSTD_isError(rest) == 0 else { return failure = .damaged("zstd") }
                guard plain.readableBytes <= maxBytes else {
                    return failure = .tooLarge(limit: maxBytes)
                }
                if input.pos == input.size, rest == 0 { return }
                guard progress > 0 else { return failure = .damaged("zstd") }
            }
        }
        if let failure { throw failure }
        return plain
    }

    /// Decompresses into `room` bytes.
    ///
    /// - Returns: libzstd's result, 0 at the end of a frame; and the bytes that moved.
    private static func step(
        _ context: OpaquePointer, _ input: inout ZSTD_inBuffer, into plain: inout ByteBuffer,
        room: Int
    ) -> (rest: Int, progress: Int) {
        let start = input.pos
        var rest = 0
        let written = plain.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { bytes in
            var output = ZSTD_outBuffer(dst: bytes.baseAddress, size: room, pos: 0)
            rest = ZSTD_decompressStream(context, &output, &input)
            return output.pos
        }
        return (rest, input.pos - start + written)
    }
}
