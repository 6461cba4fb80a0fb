package import GRPCCore

/// The requests of a stream that arrived in one burst, in order. Passing them on as one message
/// pays the cost per message once, which for requests of a single event is most of their cost.
///
/// The body of such a message is a sequence of gRPC messages with their prefixes: a byte 0 (not
/// compressed) and the length (4 bytes, big-endian). A protobuf message never starts with 0, so any
/// other first byte means a single request. `RequestCoalescer` makes these messages. A client may
/// send the same bytes itself, with the same effect; a malformed sequence is one malformed request.
///
/// The prefixes are checked again here, all of them before the first request is admitted: the edge
/// has counted the requests, but the gRPC library passes on only bytes, and a client's own sequence
/// looks the same.
package struct CoalescedRequests: Sendable {
    private let bytes: RequestBuffer
    private let isSequence: Bool

    init(_ bytes: some GRPCContiguousBytes) {
        self.bytes = RequestBuffer(bytes)
        self.isSequence = self.bytes.withUnsafeBytes { LengthPrefixedMessages.count(in: $0) != nil }
    }

    /// The size of the message that it arrived as, including its prefix.
    package var framedBytes: Int { LengthPrefixedMessages.prefixBytes &+ self.bytes.count }
}

extension CoalescedRequests: Sequence {
    /// Iterates over the requests in order.
    package func makeIterator() -> Iterator {
        Iterator(bytes: self.bytes, isSequence: self.isSequence)
    }

    /// Iterates over the requests.
    package struct Iterator: IteratorProtocol {
        private let bytes: RequestBuffer
        private let isSequence: Bool
        private var offset = 0
        private var isOver = false

        fileprivate init(bytes: RequestBuffer, isSequence: Bool) {
            self.bytes = bytes
            self.isSequence = isSequence
        }

        /// The next request; nil after the last one.
        package mutating func next() -> RequestBuffer? {
            guard self.isSequence else {
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

/// Deserializes messages of a stream, each of which may hold several requests.
package struct CoalescedRequestsDeserializer: MessageDeserializer {
    /// Creates a deserializer; it has no state.
    package init() {}

    /// Wraps the bytes without decoding them.
    package func deserialize(_ serializedMessageBytes: some GRPCContiguousBytes)
        -> CoalescedRequests
    {
        CoalescedRequests(serializedMessageBytes)
    }
}
