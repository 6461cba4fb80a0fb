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

    /// Messages in the bytes; nil where there is anything but whole, uncompressed messages of at
    /// most `maxBytes` each, their prefix included.
    static func count(in bytes: UnsafeRawBufferPointer, maxBytes: Int = .max) -> Int? {
        var offset = 0
        var count = 0
        while offset < bytes.count {
            guard let end = Self.endOfMessage(at: offset, in: bytes), end &- offset <= maxBytes
            else { return nil }
            offset = end
            count &+= 1
        }
        return count > 0 ? count : nil
    }
}

/// Follows the framing through a stream's DATA frames, to tell where a message begins.
struct MessageBoundary {
    /// Bytes of the current message that are still to come.
    private var remaining = 0
    /// Bytes of the current prefix that have come.
    private var prefix = 0
    private var length: UInt32 = 0

    /// Whether the next byte is a message's first.
    var isAtStart: Bool { self.remaining == 0 && self.prefix == 0 }

    /// Moves over the next bytes of the stream.
    mutating func advance(over bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while offset < bytes.count {
            if self.remaining > 0 {
                let step = Swift.min(self.remaining, bytes.count &- offset)
                self.remaining &-= step
                offset &+= step
                continue
            }
            // The first byte of the prefix shifts out of the length.
            self.length = self.length << 8 | UInt32(bytes[offset])
            self.prefix &+= 1
            offset &+= 1
            guard self.prefix == LengthPrefixedMessages.prefixBytes else { continue }
            self.remaining = Int(self.length)
            (self.prefix, self.length) = (0, 0)
        }
    }
}
