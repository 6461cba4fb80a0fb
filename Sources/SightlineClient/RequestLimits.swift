package import SightlineProtos

/// The limits of requests on a stream: the client's own, tightened by the server's.
package struct RequestLimits: Sendable, Equatable {
    /// The maximum bytes of a request apart from its events: sequence (11) and options (4).
    package static let requestOverheadByteCount = 16

    /// The maximum events in a request, at least 1.
    package var maxEvents: Int
    /// The maximum bytes of an encoded request, at least 1.
    package var maxRequestBytes: Int
    /// The maximum unacknowledged requests, at least 1.
    package var maxUnacknowledgedRequests: Int

    /// The defaults match the server's. Numbers below 1 count as 1.
    package init(
        maxEvents: Int = 100,
        maxRequestBytes: Int = 512 * 1024,
        maxUnacknowledgedRequests: Int = 16
    ) {
        self.maxEvents = max(1, maxEvents)
        self.maxRequestBytes = max(1, maxRequestBytes)
        self.maxUnacknowledgedRequests = max(1, maxUnacknowledgedRequests)
    }

    /// The stricter of these limits and the server's, in which 0 means unspecified.
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
