internal import NIOCore

/// Joins adjacent small DATA frames of a stream (RFC 9113, section 6.1), in chunks of any size.
/// Frame boundaries have no meaning to gRPC, and flow control counts bytes: only the cost per frame
/// changes.
struct DataFrameCoalescer {
    /// Larger payloads are not joined: copying them would cost more than it saves.
    static let maxPayloadBytes = 4 << 10
    /// The maximum payload of a joined frame, which every receiver must accept (section 4.2).
    static let maxJoinedBytes = 16 << 10

    private static let headerBytes = 9
    private static let prefaceBytes = 24

    /// The remaining bytes of the preface or of a payload.
    private var left = Self.prefaceBytes
    /// The bytes of a header that ended the last chunk, and the payload length parsed from them.
    private var headerCount = 0
    private var length = 0

    /// Returns the chunk with its frames joined; the same chunk if there are none to join.
    mutating func join(_ chunk: ByteBuffer, allocator: ByteBufferAllocator) -> ByteBuffer {
        chunk.withUnsafeReadableBytes { bytes in
            var offset = self.finishFrame(bytes)
            var joined = Joined(bytes, allocator: allocator)
            while bytes.count &- offset >= Self.headerBytes {
                let frame = Frame(bytes, at: offset)
                guard frame.end <= bytes.count else { break }
                joined.add(frame)
                offset = frame.end
            }
            self.beginFrame(bytes, at: offset)
            return joined.finish() ?? chunk
        }
    }

    /// Skips the rest of an earlier chunk's frame; returns the start of the next frame.
    private mutating func finishFrame(_ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 0
        while self.headerCount > 0, offset < bytes.count { self.readHeaderByte(bytes, &offset) }
        let step = min(self.left, bytes.count &- offset)
        self.left &-= step
        return offset &+ step
    }

    /// Remembers the frame that the chunk's end splits.
    private mutating func beginFrame(_ bytes: UnsafeRawBufferPointer, at start: Int) {
        var offset = start
        while offset < bytes.count, self.left == 0 { self.readHeaderByte(bytes, &offset) }
        self.left &-= bytes.count &- offset
    }

    private mutating func readHeaderByte(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) {
        if self.headerCount < 3 { self.length = self.length << 8 | Int(bytes[offset]) }
        offset &+= 1
        self.headerCount &+= 1
        guard self.headerCount == Self.headerBytes else { return }
        self.left = self.length
        (self.headerCount, self.length) = (0, 0)
    }

    /// A frame whose header is complete in the chunk.
    private struct Frame {
        let start: Int
        let length: Int
        let streamID: UInt32
        /// Whether it is DATA without flags: no padding, and not the last of its stream.
        let isPlainData: Bool

        init(_ bytes: UnsafeRawBufferPointer, at start: Int) {
            let head = UInt32(
                bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self))
            self.start = start
            self.length = Int(head >> 8)
            self.isPlainData = head & 0xff == 0 && bytes[start &+ 4] == 0
            self.streamID = UInt32(
                bigEndian: bytes.loadUnaligned(fromByteOffset: start &+ 5, as: UInt32.self))
        }

        var payload: Int { self.start &+ DataFrameCoalescer.headerBytes }
        var end: Int { self.payload &+ self.length }
        var isSmall: Bool { (1...DataFrameCoalescer.maxPayloadBytes).contains(self.length) }
    }

    /// The output for one chunk; copying starts with the first frames that can be joined.
    private struct Joined {
        private let bytes: UnsafeRawBufferPointer
        private let allocator: ByteBufferAllocator
        private var output: ByteBuffer?
        /// The bytes of the chunk that were copied.
        private var copied = 0
        /// The last frame, which the next one may join, and its length so far.
        private var last: Frame?
        private var length = 0
        private var header = 0

        init(_ bytes: UnsafeRawBufferPointer, allocator: ByteBufferAllocator) {
            self.bytes = bytes
            self.allocator = allocator
        }

        mutating func add(_ frame: Frame) {
            guard frame.isPlainData, frame.isSmall else {
                self.last = nil
                return
            }
            guard let last = self.last, last.streamID == frame.streamID,
                self.length &+ frame.length <= DataFrameCoalescer.maxJoinedBytes
            else {
                self.last = frame
                self.length = frame.length
                self.header = -1
                return
            }
            var output = self.output ?? self.allocator.buffer(capacity: self.bytes.count)
            self.output = nil  // Uniquely referenced: no copy on write.
            output.writeBytes(self.bytes[self.copied..<frame.start])
            if self.header < 0 {
                self.header = output.writerIndex &- last.length &- DataFrameCoalescer.headerBytes
            }
            output.writeBytes(self.bytes[frame.payload..<frame.end])
            self.copied = frame.end
            self.length &+= frame.length
            // The upper 24 bits are the length, the lower 8 the type: DATA is 0.
            output.setInteger(UInt32(self.length) << 8, at: self.header)
            self.output = output
        }

        /// The output with the rest of the chunk; nil if nothing was joined.
        mutating func finish() -> ByteBuffer? {
            guard var output = self.output else { return nil }
            self.output = nil
            output.writeBytes(self.bytes[self.copied...])
            return output
        }
    }
}

/// Applies a joiner to a connection's bytes, in front of the HTTP/2 handler.
final class DataFrameCoalescingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var joiner = DataFrameCoalescer()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let chunk = self.joiner.join(
            self.unwrapInboundIn(data), allocator: context.channel.allocator)
        context.fireChannelRead(self.wrapInboundOut(chunk))
    }
}
