package import SightlineProtos

/// The limits of requests on a stream: the client's own, tightened by the server's.
public struct RequestLimits: Sendable, Equatable {
    /// The bytes of a request apart from its events: sequence (11) and options (4).
    package static let requestOverheadByteCount = 16
    /// The largest request that the service takes under any configuration, in bytes.
    package static let largestRequestByteCount = 512 * 1024

    /// The maximum events in a request, at least 1. Default 100.
    public var maxEvents: Int
    /// The maximum bytes of an encoded request, 1 to 512 KiB. Default 64 KiB. A larger event is
    /// sent in a request of its own.
    public var maxRequestBytes: Int
    /// The maximum unacknowledged requests, at least 1. Default 16.
    public var maxUnacknowledgedRequests: Int

    /// Creates limits.
    public init(
        maxEvents: Int = 100, maxRequestBytes: Int = 64 * 1024, maxUnacknowledgedRequests: Int = 16
    ) {
        self.maxEvents = maxEvents
        self.maxRequestBytes = maxRequestBytes
        self.maxUnacknowledgedRequests = maxUnacknowledgedRequests
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
