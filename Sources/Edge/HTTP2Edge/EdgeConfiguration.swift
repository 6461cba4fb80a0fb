package import ConfigurationKeys

/// The limits enforced before calls reach the gRPC library: on streams, messages, waiting bytes and
/// compression.
package struct EdgeConfiguration: KeyedConfiguration {
    /// The maximum open streams of a connection.
    package var streamsPerConnection = 100
    /// The maximum bytes of names and values in a call's metadata.
    package var metadataBytes = 8 << 10
    /// The maximum bytes of a message to a method that sets no limit itself. It has no key: such
    /// messages have a few fields.
    package var smallMessageBytes = 16 << 10
    /// How long a message may take from its first to its last byte.
    package var messageTimeout = Duration.seconds(30)
    /// The maximum bytes of unread messages and answers of a lone connection, beyond 16 KiB each.
    package var bytesWaiting = 64 << 20
    /// How long a client may leave answers unread.
    package var answerTimeout = Duration.seconds(30)
    /// Whether requests may be compressed, and answers are compressed if the client asks.
    package var isCompressionEnabled = true
    /// The maximum streams with compressed answers.
    package var maxCompressedStreams = 200

    /// Creates the default limits.
    package init() {}

    /// Keys in the sections `limits`, `stream` and `compression`.
    package static let keys: [Key] = [
        .number(
            "limits.streams_per_connection", \.streamsPerConnection, 1...10_000,
            "streams that a connection may have open; more wait", unit: "streams"),
        .number(
            "limits.metadata_bytes", \.metadataBytes, 1...(14 << 10),
            "bytes of the names and values of a call's metadata"),
        .duration(
            "limits.message_seconds", \.messageTimeout, 1...3600,
            "seconds that a message may take, and all that is sent in a call but StreamEvents"),
        .number(
            "limits.bytes_waiting", \.bytesWaiting, (1 << 20)...(1 << 40),
            "bytes of messages and answers over 16 KiB that may wait to be read in all calls, of "
                + "which each of N tenants may have the N-th part in any case",
            unit: "bytes"),
        .duration(
            "stream.ack_seconds", \.answerTimeout, 1...3600,
            "seconds for which a client may leave its answers unread before its stream ends"),
        .flag(
            "compression.enabled", \.isCompressionEnabled,
            "whether requests may be compressed (gzip, deflate), and answers are where asked for"),
        .number(
            "compression.max_streams", \.maxCompressedStreams, 0...100_000,
            "streams whose answers are compressed at once, 270 KB each; others get them plain",
            unit: "streams"),
    ]
}
