/// Follows the message framing across a stream's DATA frames and counts complete messages, up to
/// the first one that has a defect.
struct MessageCounter {
    /// What is wrong with a message.
    enum Defect: Equatable {
        /// Its flag is not 0. Messages that are inflated at the edge are not counted here, so this
        /// one cannot be read, or is compressed in a call that names no encoding.
        case flag(UInt8)
        /// It exceeds `maxBytes`.
        case tooLarge
    }

    /// The number of complete messages.
    private(set) var count = 0
    /// Their bytes, including prefixes.
    private(set) var bytes = 0
    /// The defect of the message behind the counted ones; nil if there is none.
    private(set) var defect: Defect?
    /// The bytes in front of that message in the frame in which its defect was seen.
    private(set) var bytesBeforeDefect = 0

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
    /// be coalesced: false if one is too large for that or has a defect.
    mutating func advance(over bytes: UnsafeRawBufferPointer) -> Bool {
        guard self.defect == nil else { return false }
        var isFit = true
        var offset = 0
        while offset < bytes.count {
            if self.prefix < LengthPrefixedMessages.prefixBytes {
                // The rest of a prefix that began in an earlier frame is at the frame's start.
                let start = offset
                if self.prefix == 0, bytes[offset] != 0 {
                    return self.stop(.flag(bytes[offset]), at: start)
                }
                self.readPrefix(bytes, &offset)
                guard self.prefix == LengthPrefixedMessages.prefixBytes else { return isFit }
                self.remaining = Int(self.length)
                if self.messageBytes > self.maxBytes { return self.stop(.tooLarge, at: start) }
                if self.messageBytes > self.maxCoalescedBytes { isFit = false }
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

    /// Stops counting; the message cannot be coalesced.
    private mutating func stop(_ defect: Defect, at offset: Int) -> Bool {
        self.defect = defect
        self.bytesBeforeDefect = offset
        return false
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
