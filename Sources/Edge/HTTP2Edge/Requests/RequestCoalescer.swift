internal import NIOCore

/// Joins the requests of a burst in one stream, before the gRPC library spends buffers, locks and
/// task switches on each. Complete, uncompressed messages are held until the burst ends and pass as
/// one (`CoalescedRequests`). Everything else passes unchanged, in order. So does an incomplete
/// message at a burst's end: holding its frames would keep the whole read buffer alive.
///
/// It parses no message: `MessageCounter` has counted those of each frame.
struct RequestCoalescer {
    /// Larger messages, with their prefix, are not joined: their own cost far exceeds what joining
    /// saves.
    static let maxMessageBytes = 64 << 10
    /// Messages pass without waiting for the burst's end once they have this many bytes.
    static let fullBytes = 256 << 10

    /// The frames held back, which begin with a message, and the number and bytes of the complete
    /// messages in them.
    private var frames = FrameQueue()
    private var count = 0
    private var bytes = 0
    private var due = Due.nothing

    /// The part of the held frames that passes now.
    private enum Due {
        case nothing
        /// The complete messages, as one; the bytes after them stay held.
        case messages
        /// The complete messages, as one if there are several, and then the bytes after them.
        case all
        /// All frames as they arrived.
        case allUnchanged
    }

    /// Adds a frame behind those held.
    ///
    /// - Parameters:
    ///   - messages: the number of messages that the frame completes.
    ///   - bytes: the bytes of these messages with their prefixes.
    ///   - isContinued: whether the frame begins within a message.
    ///   - isFit: whether all messages that begin in the frame may be joined.
    /// - Returns: false if the frame must pass by itself, after all held frames.
    mutating func add(
        _ frame: ByteBuffer, messages: Int, bytes: Int, isContinued: Bool, isFit: Bool
    ) -> Bool {
        guard isFit, !isContinued || !self.frames.isEmpty else {
            self.due = .allUnchanged
            return false
        }
        self.frames.append(frame)
        self.count &+= messages
        self.bytes &+= bytes
        if self.bytes >= Self.fullBytes { self.due = .messages }
        return true
    }

    /// Adds the last frame that passes: all held frames pass as they arrived, and then this one.
    mutating func addLast(_ frame: ByteBuffer) {
        self.frames.append(frame)
        self.due = .allUnchanged
    }

    /// Makes all held frames due, at the end of a burst or before a frame that is not held.
    mutating func endBurst() { if self.due != .allUnchanged { self.due = .all } }

    /// The next bytes to pass; nil once nothing is due.
    mutating func next() -> ByteBuffer? {
        if self.due == .messages || self.due == .all, self.count > 1 {
            return self.joinMessages()
        }
        guard self.due == .all || self.due == .allUnchanged, let frame = self.frames.popFirst()
        else {
            self.due = .nothing
            return nil
        }
        (self.count, self.bytes) = (0, 0)
        return frame
    }

    /// Removes the complete messages from the frames, as one message.
    private mutating func joinMessages() -> ByteBuffer {
        let prefixBytes = LengthPrefixedMessages.prefixBytes
        var joined = ByteBufferAllocator().buffer(capacity: prefixBytes &+ self.bytes)
        joined.writeInteger(0, as: UInt8.self)
        joined.writeInteger(UInt32(truncatingIfNeeded: self.bytes))
        var left = self.bytes
        while left > 0, let part = self.frames.popFirst(atMost: left) {
            left &-= part.readableBytes
            joined.writeImmutableBuffer(part)
        }
        (self.count, self.bytes) = (0, 0)
        return joined
    }
}

/// Frames in order. The first one is stored inline, since it is usually the only one.
private struct FrameQueue {
    private var first: ByteBuffer?
    private var others: [ByteBuffer] = []
    private var taken = 0

    var isEmpty: Bool { self.first == nil }

    mutating func append(_ frame: ByteBuffer) {
        if self.first == nil { self.first = frame } else { self.others.append(frame) }
    }

    mutating func popFirst() -> ByteBuffer? {
        guard let first else { return nil }
        guard self.taken < self.others.count else {
            self.first = nil
            return first
        }
        self.first = self.others[self.taken]
        self.taken &+= 1
        // Frees the memory while the stream is idle.
        if self.taken == self.others.count { (self.others, self.taken) = ([], 0) }
        return first
    }

    /// Removes the first frame, or its first `count` bytes.
    mutating func popFirst(atMost count: Int) -> ByteBuffer? {
        if let first, first.readableBytes > count { return self.first?.readSlice(length: count) }
        return self.popFirst()
    }
}
