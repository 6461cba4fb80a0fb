// How a stream behaves.
package import ConfigurationKeys

/// The bounds of one StreamEvents call.
package struct StreamConfiguration: KeyedConfiguration {
    /// Requests that may be under way.
    package var maxRequests = 64
    /// Bytes that may be under way.
    package var maxBytes = 8 << 20
    /// How long a closing stream is still read.
    package var closingGrace = Duration.seconds(2)

    /// Every value at its default.
    package init() {}

    /// Keys in the section `stream`.
    package static let keys: [Key] = [
        .number(
            "stream.max_requests", \.maxRequests, 1...10_000,
            "requests of a stream that may be under way"),
        .number(
            "stream.max_bytes", \.maxBytes, 1...(1 << 40),
            "bytes of a stream's requests that may be under way"),
    ]
}
