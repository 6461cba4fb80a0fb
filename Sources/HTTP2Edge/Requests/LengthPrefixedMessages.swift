// gRPC's framing of messages ("Length-Prefixed-Message" in gRPC over HTTP/2): a byte that says
// whether the message is compressed, its length in 4 bytes, big-endian, and the message.

/// Reads length-prefixed messages that are not compressed.
enum LengthPrefixedMessages {
    static let prefixBytes = 5

    /// Where the message at `offset` ends; nil where no whole, uncompressed message is there.
    static func endOfMessage(at offset: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count &- offset >= Self.prefixBytes, bytes[offset] == 0 else { return nil }
        let length = UInt32(
            bigEndian: bytes.loadUnaligned(fromByteOffset: offset &+ 1, as: UInt32.self))
        let end = offset &+ Self.prefixBytes &+ Int(length)
        return end <= bytes.count ? end : nil
    }

    /// Messages in the bytes; nil where there is anything but whole, uncompressed messages.
    static func count(in bytes: UnsafeRawBufferPointer) -> Int? {
        var offset = 0
        var count = 0
        while offset < bytes.count {
            guard let end = Self.endOfMessage(at: offset, in: bytes) else { return nil }
            offset = end
            count &+= 1
        }
        return count > 0 ? count : nil
    }
}

/// Follows the framing through a stream's DATA frames, and counts the messages that end in them.
struct MessageCounter {
    /// Messages that have ended since `forget`.
    private(set) var count = 0
    /// Their bytes, prefixes included.
    private(set) var bytes = 0
    /// Whether a message had more than its `maxBytes`.
    private(set) var hasTooLarge = false

    private let maxBytes: Int
    /// Bytes of the current message's prefix that have come, and what they say so far.
    private var prefix = 0
    private var length: UInt32 = 0
    /// Bytes that are still to come after the prefix.
    private var remaining = 0

    /// A counter of messages of at most `maxBytes` each, their prefix included.
    init(maxBytes: Int) { self.maxBytes = maxBytes }

    /// Whether the next byte is a message's first.
    var isAtStart: Bool { self.prefix == 0 }

    private var messageBytes: Int { LengthPrefixedMessages.prefixBytes &+ Int(self.length) }

    /// Bytes that have come of the message that has not ended.
    var unfinishedBytes: Int {
        self.prefix < LengthPrefixedMessages.prefixBytes
            ? self.prefix : self.messageBytes &- self.remaining
    }

    /// Forgets the messages that have ended.
    mutating func forget() { (self.count, self.bytes) = (0, 0) }

    /// Moves over the next bytes of the stream; false where a message begins in them that is
    /// compressed or has too many bytes.
    mutating func advance(over bytes: UnsafeRawBufferPointer) -> Bool {
        var isFit = true
        var offset = 0
        while offset < bytes.count {
            if self.prefix < LengthPrefixedMessages.prefixBytes {
                if self.prefix == 0, bytes[offset] != 0 { isFit = false }
                self.readPrefix(bytes, &offset)
                guard self.prefix == LengthPrefixedMessages.prefixBytes else { return isFit }
                self.remaining = Int(self.length)
                if self.messageBytes > self.maxBytes {
                    self.hasTooLarge = true
                    isFit = false
                }
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

    /// Reads as much of a prefix as there is: nearly always the whole of it, at once.
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
            // The first byte of the prefix shifts out of the length.
            self.length = self.length << 8 | UInt32(bytes[offset])
            self.prefix &+= 1
            offset &+= 1
        }
    }
}
