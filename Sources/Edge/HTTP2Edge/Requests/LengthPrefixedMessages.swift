/// gRPC's message framing ("Length-Prefixed-Message" in gRPC over HTTP/2): a byte that is 1 if the
/// message is compressed, its length in 4 bytes (big-endian), and the message. Only uncompressed
/// messages are read here.
enum LengthPrefixedMessages {
    static let prefixBytes = 5

    /// The end of the message at `offset`; nil if it is incomplete or compressed.
    static func endOfMessage(at offset: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count &- offset >= Self.prefixBytes, bytes[offset] == 0 else { return nil }
        let length = UInt32(
            bigEndian: bytes.loadUnaligned(fromByteOffset: offset &+ 1, as: UInt32.self))
        let end = offset &+ Self.prefixBytes &+ Int(length)
        return end <= bytes.count ? end : nil
    }

    /// The number of messages; nil unless all are complete and uncompressed.
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
