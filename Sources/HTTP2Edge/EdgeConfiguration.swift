// What a server takes in front of its services.

/// The bounds of what stands in front of the gRPC library. Bytes and times of a stream, of a call,
/// and of compression.
package struct EdgeConfiguration: Sendable {
    /// Streams that one connection may have open; more wait. Default 100.
    package var streamsPerConnection = 100
    /// Bytes of the names and values of a call's metadata. Default 8 KiB.
    package var metadataBytes = 8 << 10
    /// Bytes of a message to a method that takes no events. Default 16 KiB.
    package var smallMessageBytes = 16 << 10
    /// How long a message may take from its first byte to its last. Default 30 s.
    package var messageTimeout = Duration.seconds(30)
    /// Bytes of messages and answers over 16 KiB that may wait to be read, in all calls. Default
    /// 64 MiB.
    package var bytesWaiting = 64 << 20
    /// For how long a client may leave its answers unread. Default 30 s.
    package var answerTimeout = Duration.seconds(30)
    /// Whether requests may be compressed, and answers are for clients that ask. Default true.
    package var isCompressionEnabled = true
    /// Streams whose answers are compressed at once; others are answered plainly. Default 200.
    package var maxCompressedStreams = 200

    /// Every value at its default.
    package init() {}
}
