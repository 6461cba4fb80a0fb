/// The limits on a call's messages, shared by all streams.
package struct MessageLimits: Sendable {
    /// The gRPC library's limit on a message in bytes, also when inflated. A request between the
    /// service's limit and this one gets a verdict; a larger one ends its call.
    package static let maxBytes = 1 << 20

    /// The path of the method whose messages are read one by one, for as long as the client sends.
    let streamPath: String
    /// The maximum bytes of a message by its method's path.
    let methodBytes: [String: Int]
    /// The maximum bytes of a message to any other method.
    let smallBytes: Int
    /// How long a message may take from its first to its last byte. In methods other than
    /// `streamPath`, the limit applies to the whole request.
    let timeout: Duration
    /// Counts bytes until a call's reader takes them.
    package let buffered: BufferedBytes

    /// Creates the limits.
    ///
    /// - Parameters:
    ///   - configuration: the limits on messages to other methods, and on a message's time.
    ///   - streamPath: the method whose messages are read one by one, `/package.Service/Method`.
    ///   - methodBytes: the maximum bytes of a message by path, at most `maxBytes`.
    ///   - buffered: counts the bytes that wait for their reader.
    package init(
        _ configuration: EdgeConfiguration, streamPath: String, methodBytes: [String: Int],
        buffered: BufferedBytes
    ) {
        self.streamPath = streamPath
        self.methodBytes = methodBytes
        self.smallBytes = configuration.smallMessageBytes
        self.timeout = configuration.messageTimeout
        self.buffered = buffered
    }

    /// The maximum bytes of a message to the method at `path`.
    package func maxBytes(at path: String?) -> Int {
        path.flatMap { self.methodBytes[$0] } ?? self.smallBytes
    }
}
