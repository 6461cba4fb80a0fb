/// The limits enforced before calls reach the gRPC library: on streams, messages, waiting bytes and
/// compression.
package struct EdgeConfiguration: Sendable {
    /// The maximum open streams of a connection; clients queue further ones. Default 100.
    package var streamsPerConnection = 100
    /// The maximum bytes of names and values in a call's metadata. Default 8 KiB.
    package var metadataBytes = 8 << 10
    /// The maximum bytes of a message to a method without a limit of its own. Default 16 KiB.
    package var smallMessageBytes = 16 << 10
    /// How long a message may take from its first to its last byte. Default 30 s.
    package var messageTimeout = Duration.seconds(30)
    /// The maximum bytes of unread messages and answers in all calls, beyond 16 KiB each. Default
    /// 64 MiB.
    package var bytesWaiting = 64 << 20
    /// How long a client may leave answers unread. Default 30 s.
    package var answerTimeout = Duration.seconds(30)
    /// Whether requests may be compressed and answers are compressed on request. Default true.
    package var isCompressionEnabled = true
    /// The maximum streams with compressed answers; further ones get plain answers. Default 200.
    package var maxCompressedStreams = 200

    /// Creates the default limits.
    package init() {}
}
