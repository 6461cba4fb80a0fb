internal import NIOCore

/// Inflates the messages of one call; they keep their gRPC framing.
final class MessageInflater {
    private static let prefixBytes = 5
    /// A message's prefix before its length is known.
    private static let prefix = [UInt8](repeating: 0, count: 5)

    private let maxBytes: Int
    private let inflater: Inflater
    private var pending = ByteBuffer()

    /// Creates an inflater; nil for an unsupported encoding or without memory.
    init?(_ encoding: String, maxBytes: Int) {
        guard let inflater = Inflater(encoding, maxBytes: maxBytes) else { return nil }
        self.maxBytes = maxBytes
        self.inflater = inflater
    }

    /// The received bytes of messages that are not inflated yet.
    var pendingBytes: Int { self.pending.readableBytes }
    /// Whether bytes of an incomplete message are pending.
    var hasRest: Bool { self.pendingBytes > 0 }

    /// Appends received bytes.
    func append(_ bytes: ByteBuffer) {
        guard self.hasRest else {
            self.pending = bytes
            return
        }
        // Discard read bytes only once they exceed the rest: each byte moves about once.
        if self.pending.readerIndex > self.pending.readableBytes { self.pending.discardReadBytes() }
        self.pending.writeImmutableBuffer(bytes)
    }

    /// The next message, inflated and with its prefix; nil if it is incomplete. The cost depends on
    /// this message only, not on the pending bytes.
    func next() throws(InflateFailure) -> ByteBuffer? {
        let start = self.pending.readerIndex
        guard let flag = self.pending.getInteger(at: start, as: UInt8.self),
            let length = self.pending.getInteger(at: start + 1, as: UInt32.self)
        else { return nil }
        guard length <= self.maxBytes else { throw .tooLarge }
        let count = Self.prefixBytes + Int(length)
        guard var message = self.pending.readSlice(length: count) else { return nil }
        switch flag {
        case 0: return message
        case 1:
            message.moveReaderIndex(forwardBy: Self.prefixBytes)
            return try self.inflated(message)
        default: throw .flag(flag)
        }
    }

    private func inflated(_ message: ByteBuffer) throws(InflateFailure) -> ByteBuffer {
        var plain = try self.inflater.inflate(message, behind: Self.prefix)
        let length = plain.readableBytes - Self.prefixBytes
        plain.setInteger(UInt32(length), at: plain.readerIndex + 1)
        return plain
    }
}
