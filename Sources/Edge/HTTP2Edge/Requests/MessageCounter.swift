/// Follows the message framing across a stream's DATA frames and counts complete messages.
struct MessageCounter {
    /// The number of complete messages.
    private(set) var count = 0
    /// Their bytes, including prefixes.
    private(set) var bytes = 0
    /// Whether a message exceeded `maxBytes`.
    private(set) var hasTooLarge = false

    private let maxBytes: Int
    private let maxCoalescedBytes: Int
    /// The bytes of the current message's prefix, and the length parsed from them so far.
    private var prefix = 0
    private var length: UInt32 = 0
    /// The message's remaining bytes after the prefix.
    private var remaining = 0

    /// Creates a counter.
    ///
    /// - Parameters:
    ///   - maxBytes: the maximum bytes of a message with its prefix.
    ///   - maxCoalescedBytes: the same for messages that may be coalesced.
    init(maxBytes: Int, maxCoalescedBytes: Int = RequestCoalescer.maxMessageBytes) {
        self.maxBytes = maxBytes
        self.maxCoalescedBytes = maxCoalescedBytes
    }

    /// Whether the next byte starts a message.
    var isAtStart: Bool { self.prefix == 0 }

    private var messageBytes: Int { LengthPrefixedMessages.prefixBytes &+ Int(self.length) }

    /// The bytes received of an incomplete message.
    var unfinishedBytes: Int {
        self.prefix < LengthPrefixedMessages.prefixBytes
            ? self.prefix : self.messageBytes &- self.remaining
    }

    /// Processes the next bytes of the stream; returns whether all messages that begin in them may
    /// be coalesced: false if one is compressed or too large for that.
    mutating func advance(over bytes: UnsafeRawBufferPointer) -> Bool {
        var isFit = true
        var offset = 0
        while offset < bytes.count {
            if self.prefix < LengthPrefixedMessages.prefixBytes {
                if self.prefix == 0, bytes[offset] != 0 { isFit = false }
                self.readPrefix(bytes, &offset)
                guard self.prefix == LengthPrefixedMessages.prefixBytes else { return isFit }
                self.remaining = Int(self.length)
                if self.messageBytes > self.maxCoalescedBytes { isFit = false }
                if self.messageBytes > self.maxBytes { self.hasTooLarge = true }
            }
            let step = Swift.min(self.remaining, bytes.count &- offset)
            self.remaining &-= step
            offset &+= step
            guard self.remaining == 0 else { continue }
            self.count &+= 1
            self.bytes &+= self.messageBytes
            (self.prefix, self.length) = (0, 0)
        }
        return isFit
    }

    /// Reads the available bytes of a prefix; usually it is complete at once.
    private mutating func readPrefix(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) {
        let prefixBytes = LengthPrefixedMessages.prefixBytes
        if self.prefix == 0, bytes.count &- offset >= prefixBytes {
            let length = bytes.loadUnaligned(fromByteOffset: offset &+ 1, as: UInt32.self)
            self.length = UInt32(bigEndian: length)
            self.prefix = prefixBytes
            offset &+= prefixBytes
            return
        }
        while self.prefix < prefixBytes, offset < bytes.count {
            // The flag byte, which is the first, is shifted out of the length.
            self.length = self.length << 8 | UInt32(bytes[offset])
            self.prefix &+= 1
            offset &+= 1
        }
    }
}
