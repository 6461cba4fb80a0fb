// What the edges of all streams have in common: how large a message may be, how long it may take,
// and what may wait in memory until it is taken.

/// The rules of calls in front of the gRPC library.
package struct MessageRules: Sendable {
    /// The library's limit of one message, in bytes, and of what comes out of a compressed one. A
    /// request above the service's own limit and up to this one gets an answer of its own; one
    /// above this ends its call.
    package static let maxBytes = 1 << 20

    /// The path of the method whose messages are read one by one, as long as its client sends.
    let streamPath: String
    /// Bytes of a message by its method's path.
    let methodBytes: [String: Int]
    /// Bytes of a message to any other method.
    let smallBytes: Int
    /// How long a message may take from its first byte to its last, and a client with all that it
    /// sends in a call that is no stream of events.
    let timeout: Duration
    /// Where bytes are counted until a call's reader takes them.
    let waiting: WaitingBytes

    /// Rules of a service's methods.
    ///
    /// - Parameters:
    ///   - configuration: how large other methods' messages may be, and how long one may take.
    ///   - streamPath: the method whose messages are read one by one, `/package.Service/Method`.
    ///   - methodBytes: bytes of a message by its method's path, `maxBytes` at most.
    ///   - waiting: where the bytes are counted that wait for their reader.
    package init(
        _ configuration: EdgeConfiguration, streamPath: String, methodBytes: [String: Int],
        waiting: WaitingBytes
    ) {
        self.streamPath = streamPath
        self.methodBytes = methodBytes
        self.smallBytes = configuration.smallMessageBytes
        self.timeout = configuration.messageTimeout
        self.waiting = waiting
    }

    /// Bytes of a message to the method at `path`.
    func maxBytes(at path: String?) -> Int {
        path.flatMap { self.methodBytes[$0] } ?? self.smallBytes
    }
}
