package import GRPCCore
package import GRPCNIOTransportHTTP2Posix

/// The bytes of a request message in the transport's buffer, which Admission parses in place.
package struct RequestBuffer: Sendable {
    @usableFromInline let buffer: GRPCNIOTransportBytes
    @usableFromInline let range: Range<Int>

    /// Wraps the bytes of a message.
    package init(_ bytes: some GRPCContiguousBytes) {
        // Over HTTP/2 this is the transport's own buffer, shared without a copy.
        self.buffer =
            bytes as? GRPCNIOTransportBytes
            ?? bytes.withUnsafeBytes { GRPCNIOTransportBytes($0) }
        self.range = 0..<self.buffer.count
    }

    private init(_ buffer: GRPCNIOTransportBytes, range: Range<Int>) {
        self.buffer = buffer
        self.range = range
    }

    /// A slice; `range` must lie within the bytes.
    subscript(range: Range<Int>) -> RequestBuffer {
        precondition(0 <= range.lowerBound && range.upperBound <= self.count)
        let start = self.range.lowerBound
        return RequestBuffer(
            self.buffer, range: start &+ range.lowerBound..<start &+ range.upperBound)
    }

    /// The number of bytes.
    package var count: Int { self.range.count }

    /// Calls `body` with the bytes, which are valid only inside it.
    @inlinable
    package func withUnsafeBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws -> Value
    ) rethrows -> Value {
        try self.buffer.withUnsafeBytes { buffer in
            try body(UnsafeRawBufferPointer(rebasing: buffer[self.range]))
        }
    }
}

/// Decodes nothing, so that a malformed message gets a result instead of ending the stream.
package struct RequestBufferDeserializer: MessageDeserializer {
    /// Creates a deserializer; it has no state.
    package init() {}

    /// Wraps the bytes without decoding them.
    package func deserialize(_ serializedMessageBytes: some GRPCContiguousBytes) -> RequestBuffer {
        RequestBuffer(serializedMessageBytes)
    }
}
