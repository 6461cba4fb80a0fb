// Requests that came in one burst, as one message. What a message costs on its way from the
// transport to the stream's task is paid once for all of them: with requests of a single event that
// is most of what they cost.
package import GRPCCore

/// One or more requests of a stream, in order.
///
/// A run is a message that holds gRPC messages as they came: each is preceded by a byte 0 (not
/// compressed) and its length (4 bytes, big-endian; gRPC over HTTP/2, "Length-Prefixed-Message").
/// No protobuf message starts with that 0, so any other first byte means a single request.
/// `RequestRunHandler` makes runs. A client that sends the same bytes is understood like one that
/// sends the requests one by one; and what only begins like a run is one malformed request.
package struct RequestRun: Sendable {
    private let bytes: RequestBytes
    private let isRun: Bool

    init(_ bytes: some GRPCContiguousBytes) {
        self.bytes = RequestBytes(bytes)
        self.isRun = self.bytes.withUnsafeBytes { LengthPrefixedMessages.count(in: $0) != nil }
    }

    /// Bytes of the message that it came as, its prefix included.
    package var framedBytes: Int { LengthPrefixedMessages.prefixBytes &+ self.bytes.count }
}

extension RequestRun: Sequence {
    /// The requests, in order.
    package func makeIterator() -> Iterator { Iterator(bytes: self.bytes, isRun: self.isRun) }

    /// Walks over them.
    package struct Iterator: IteratorProtocol {
        private let bytes: RequestBytes
        private let isRun: Bool
        private var offset = 0
        private var isOver = false

        fileprivate init(bytes: RequestBytes, isRun: Bool) {
            self.bytes = bytes
            self.isRun = isRun
        }

        /// The next request; nil behind the last.
        package mutating func next() -> RequestBytes? {
            guard self.isRun else {
                defer { self.isOver = true }
                return self.isOver ? nil : self.bytes
            }
            let offset = self.offset
            guard
                let end = self.bytes.withUnsafeBytes({
                    LengthPrefixedMessages.endOfMessage(at: offset, in: $0)
                })
            else { return nil }
            self.offset = end
            return self.bytes[offset &+ LengthPrefixedMessages.prefixBytes..<end]
        }
    }
}

/// Makes a run of a stream's message.
package struct RequestRunDeserializer: MessageDeserializer {
    /// A deserializer of messages that may be runs.
    package init() {}

    /// Keeps the bytes.
    package func deserialize(_ serializedMessageBytes: some GRPCContiguousBytes) -> RequestRun {
        RequestRun(serializedMessageBytes)
    }
}
