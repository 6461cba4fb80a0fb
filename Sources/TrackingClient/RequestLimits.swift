// What a request and a stream may hold: the client's own wish, tightened by the server's answer.
package import SightlineProtos

/// The bounds of requests on one stream.
package struct RequestLimits: Sendable, Equatable {
    /// Bytes of a request besides its events: the sequence (11 at most) and the options (4).
    package static let requestOverheadByteCount = 16

    /// Events in a request, at least 1.
    package var maxEvents: Int
    /// Bytes of an encoded request, at least 1.
    package var maxRequestBytes: Int
    /// Requests under way before an answer, at least 1.
    package var maxUnacknowledgedRequests: Int

    /// The defaults fit a server with its own defaults. Numbers below 1 count as 1.
    package init(
        maxEvents: Int = 100,
        maxRequestBytes: Int = 512 * 1024,
        maxUnacknowledgedRequests: Int = 16
    ) {
        self.maxEvents = max(1, maxEvents)
        self.maxRequestBytes = max(1, maxRequestBytes)
        self.maxUnacknowledgedRequests = max(1, maxUnacknowledgedRequests)
    }

    /// The stricter of these limits and the server's; a server's 0 says nothing.
    package func tightened(by server: Sightline_V1_StreamLimits) -> RequestLimits {
        RequestLimits(
            maxEvents: Self.stricter(self.maxEvents, server.maxEvents),
            maxRequestBytes: Self.stricter(self.maxRequestBytes, server.maxRequestBytes),
            maxUnacknowledgedRequests: Self.stricter(
                self.maxUnacknowledgedRequests, server.maxUnacknowledgedRequests))
    }

    private static func stricter(_ own: Int, _ server: UInt32) -> Int {
        server == 0 ? own : min(own, Int(clamping: server))
    }
}
