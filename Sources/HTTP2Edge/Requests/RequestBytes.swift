// A request that stays bytes: the transport's buffer, handed to Admission as it came.
package import GRPCCore
internal import GRPCNIOTransportHTTP2Posix

/// The bytes of one request message.
package struct RequestBytes: Sendable {
    private let buffer: GRPCNIOTransportBytes
    private let range: Range<Int>

    /// The bytes of a message.
    package init(_ bytes: some GRPCContiguousBytes) {
        // Over HTTP/2 these are the transport's own bytes, which are shared and not copied.
        self.buffer =
            bytes as? GRPCNIOTransportBytes
            ?? bytes.withUnsafeBytes { GRPCNIOTransportBytes($0) }
        self.range = 0..<self.buffer.count
    }

    private init(_ buffer: GRPCNIOTransportBytes, range: Range<Int>) {
        self.buffer = buffer
        self.range = range
    }

    /// A part of them; `range` has to lie in them.
    subscript(range: Range<Int>) -> RequestBytes {
        precondition(0 <= range.lowerBound && range.upperBound <= self.count)
        let start = self.range.lowerBound
        return RequestBytes(
            self.buffer, range: start &+ range.lowerBound..<start &+ range.upperBound)
    }

    /// Bytes in it.
    package var count: Int { self.range.count }

    /// Borrows the bytes.
    package func withUnsafeBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws -> Value
    ) rethrows -> Value {
        try self.buffer.withUnsafeBytes { buffer in
            try body(UnsafeRawBufferPointer(rebasing: buffer[self.range]))
        }
    }
}

/// Decodes nothing: what is no protobuf message becomes a result, and does not end the stream.
package struct RequestBytesDeserializer: MessageDeserializer {
    /// A deserializer that keeps the bytes.
    package init() {}

    /// Keeps the bytes.
    package func deserialize(_ serializedMessageBytes: some GRPCContiguousBytes) -> RequestBytes {
        RequestBytes(serializedMessageBytes)
    }
}
