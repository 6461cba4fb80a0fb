internal import NIOCore

/// Decides what passes from a client to the transport, in a single walk over the client's frames:
/// PINGs are removed, to be answered by the guard, and small DATA frames are joined.
struct FrameGate {
    /// Bytes to pass on, and then a PING to answer.
    struct Step {
        var bytes: ByteBuffer?
        var ping: UInt64?
    }

    /// Parses the client's frames.
    private(set) var frames = HTTP2FrameReader(side: .client)

    /// The next step for the chunk's readable bytes from `offset`, which is advanced; nil at the
    /// chunk's end.
    mutating func next(in chunk: ByteBuffer, from offset: inout Int) -> Step? {
        var coalescer = DataFrameCoalescer(chunk, from: offset)
        while let piece = self.frames.next(chunk.readableBytesUInt8Span, from: &offset) {
            switch piece {
            case .frame(let header, let range): coalescer.add(header, range)
            case .part(let range): coalescer.add(to: range.upperBound)
            // The header began in an earlier chunk, so no bytes of this chunk come before it.
            case .header(let header): return Step(bytes: ByteBuffer(bytes: header.bytes))
            case .ping(let data): return Step(bytes: coalescer.finish(), ping: data)
            }
        }
        return coalescer.finish().map { Step(bytes: $0) }
    }
}
