// A request that stays bytes: the transport's buffer, handed to Admission as it came.
package import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import NIOCore

/// The bytes of one request message.
package struct RequestBytes: Sendable {
    private let buffer: GRPCNIOTransportBytes

    init(_ bytes: some GRPCContiguousBytes) {
        // Over HTTP/2 these are the transport's own bytes, which are shared and not copied.
        self.buffer =
            bytes as? GRPCNIOTransportBytes
            ?? bytes.withUnsafeBytes { GRPCNIOTransportBytes($0) }
    }

    /// Bytes in it.
    package var count: Int { self.buffer.count }

    /// Borrows the bytes.
    package func withUnsafeBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws -> Value
    ) rethrows -> Value {
        try self.buffer.withUnsafeBytes(body)
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
