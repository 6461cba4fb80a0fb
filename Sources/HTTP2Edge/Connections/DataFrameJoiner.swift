// Adjacent small DATA frames of one stream, joined into one (RFC 9113, section 6.1). A frame's
// bounds mean nothing to the protocol above it, and flow control counts bytes: only the work per
// frame changes. Knows no pipeline, so that tests can drive it with bytes alone.
internal import NIOCore

/// Follows the bytes that a client sends, in chunks of any size, and joins what may be joined.
struct DataFrameJoiner {
    /// Larger payloads stay as they are: copying them would cost more than it saves.
    static let maxPayloadBytes = 4 << 10
    /// What a joined frame may hold: no receiver may allow less (section 4.2).
    static let maxJoinedBytes = 16 << 10

    private static let headerBytes = 9
    private static let prefaceBytes = 24

    /// Bytes of the preface or of a payload that are still to come.
    private var left = Self.prefaceBytes
    /// Bytes of a header that came at the end of the last chunk, and the payload's length so far.
    private var headerCount = 0
    private var length = 0

    /// The chunk with its frames joined; the chunk itself where there is nothing to join.
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

    /// Steps over what belongs to a frame of an earlier chunk; where the next frame begins.
    private mutating func finishFrame(_ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 0
        while self.headerCount > 0, offset < bytes.count { self.readHeaderByte(bytes, &offset) }
        let step = min(self.left, bytes.count &- offset)
        self.left &-= step
        return offset &+ step
    }

    /// Notes the frame that the chunk's end cuts.
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

    /// A frame that lies whole in a chunk, or would if the chunk went on.
    private struct Frame {
        let start: Int
        let length: Int
        let streamID: UInt32
        /// Whether it is DATA without flags: neither padded nor the stream's last.
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

        var payload: Int { self.start &+ DataFrameJoiner.headerBytes }
        var end: Int { self.payload &+ self.length }
        var isSmall: Bool { (1...DataFrameJoiner.maxPayloadBytes).contains(self.length) }
    }

    /// The frames of one chunk, copied from where the first two can be joined.
    private struct Joined {
        private let bytes: UnsafeRawBufferPointer
        private let allocator: ByteBufferAllocator
        private var output: ByteBuffer?
        /// Bytes of the chunk that the output holds.
        private var copied = 0
        /// The frame that the next one may join, and its length with those that have.
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
                self.length &+ frame.length <= DataFrameJoiner.maxJoinedBytes
            else {
                self.last = frame
                self.length = frame.length
                self.header = -1
                return
            }
            var output = self.output ?? self.allocator.buffer(capacity: self.bytes.count)
            self.output = nil  // One owner, so that nothing is copied.
            output.writeBytes(self.bytes[self.copied..<frame.start])
            if self.header < 0 {
                self.header = output.writerIndex &- last.length &- DataFrameJoiner.headerBytes
            }
            output.writeBytes(self.bytes[frame.payload..<frame.end])
            self.copied = frame.end
            self.length &+= frame.length
            // The upper 24 bits are the length, the lower 8 the type: DATA is 0.
            output.setInteger(UInt32(self.length) << 8, at: self.header)
            self.output = output
        }

        /// The output with the rest of the chunk; nil where nothing was joined.
        mutating func finish() -> ByteBuffer? {
            guard var output = self.output else { return nil }
            self.output = nil
            output.writeBytes(self.bytes[self.copied...])
            return output
        }
    }
}

/// Puts a joiner between a connection's bytes and the HTTP/2 handler.
final class DataFrameJoiningHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var joiner = DataFrameJoiner()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let chunk = self.joiner.join(
            self.unwrapInboundIn(data), allocator: context.channel.allocator)
        context.fireChannelRead(self.wrapInboundOut(chunk))
    }
}
