// How a stream behaves.

/// The bounds of one StreamEvents call.
package struct StreamConfiguration: Sendable {
    /// Requests that may be under way. Default 64.
    package var maxRequests = 64
    /// Bytes that may be under way. Default 8 MiB.
    package var maxBytes = 8 << 20
    /// How long a closing stream is still read. Default 2 s.
    package var closingGrace = Duration.seconds(2)

    /// Every value at its default.
    package init() {}
}
