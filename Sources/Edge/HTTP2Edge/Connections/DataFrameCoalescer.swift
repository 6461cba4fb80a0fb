internal import NIOCore

/// Joins adjacent small DATA frames of a stream (RFC 9113, section 6.1) in one chunk of bytes.
/// Frame boundaries mean nothing to gRPC, and flow control counts bytes: only the cost per frame
/// changes.
struct DataFrameCoalescer {
    /// Larger payloads are not joined: copying them would cost more than it saves.
    static let maxPayloadBytes = 4 << 10
    /// The maximum payload of a joined frame, which every receiver must accept (section 4.2).
    static let maxJoinedBytes = 16 << 10

    private let chunk: ByteBuffer
    private let start: Int
    private var end: Int
    /// A copy of the chunk from the first joined frame on, and how far into the chunk it reaches.
    private var output: ByteBuffer?
    private var copied: Int
    /// The last frame, which the next one may join, and its length so far.
    private var last: HTTP2FrameHeader?
    private var length = 0
    /// The offset of its header in the output; nil until a frame has joined it.
    private var headerIndex: Int?

    /// Starts at `start` in the chunk's readable bytes.
    init(_ chunk: ByteBuffer, from start: Int) {
        self.chunk = chunk
        (self.start, self.end, self.copied) = (start, start, start)
    }

    /// Adds the bytes up to `end`, which are not a complete frame.
    mutating func add(to end: Int) {
        self.end = end
        self.last = nil
    }

    /// Adds a complete frame that begins at the end of the previous bytes.
    mutating func add(_ header: HTTP2FrameHeader, _ frame: Range<Int>) {
        self.end = frame.upperBound
        guard header.isPlainData, (1...Self.maxPayloadBytes).contains(header.length) else {
            self.last = nil
            return
        }
        guard let last, header.isLike(last), self.length &+ header.length <= Self.maxJoinedBytes
        else {
            (self.last, self.length, self.headerIndex) = (header, header.length, nil)
            return
        }
        self.join(frame)
    }

    /// Appends the payload of a frame to the last one.
    private mutating func join(_ frame: Range<Int>) {
        let capacity = self.chunk.readableBytes &- self.start
        var output = self.output ?? ByteBufferAllocator().buffer(capacity: capacity)
        self.output = nil  // Uniquely referenced: no copy on write.
        let payload = frame.lowerBound &+ HTTP2FrameHeader.byteCount
        output.writeBytes(self.chunk.readableBytesSpan.extracting(self.copied..<frame.lowerBound))
        let headerIndex =
            self.headerIndex ?? output.writerIndex &- self.length &- HTTP2FrameHeader.byteCount
        output.writeBytes(self.chunk.readableBytesSpan.extracting(payload..<frame.upperBound))
        self.copied = frame.upperBound
        self.length &+= frame.upperBound &- payload
        // The upper 24 bits are the length, the lower 8 the type: DATA is 0.
        output.setInteger(UInt32(self.length) << 8, at: headerIndex)
        self.headerIndex = headerIndex
        self.output = output
    }

    /// The bytes to pass on: the chunk itself or a slice of it if no frames were joined; nil if
    /// there are none.
    mutating func finish() -> ByteBuffer? {
        guard self.end > self.start else { return nil }
        guard var output = self.output else {
            let count = self.end &- self.start
            return count == self.chunk.readableBytes
                ? self.chunk
                : self.chunk.getSlice(at: self.chunk.readerIndex &+ self.start, length: count)
        }
        self.output = nil
        output.writeBytes(self.chunk.readableBytesSpan.extracting(self.copied..<self.end))
        return output
    }
}
