/// The settings of a client.
public struct ClientConfiguration: Sendable {
    /// The server.
    public var address: ServerAddress
    /// The limits of requests. The server may tighten them.
    public var limits = RequestLimits()
    /// How long an event may wait for others to fill a request. Default 5 ms.
    public var linger: Duration = .milliseconds(5)
    /// The maximum events that the client holds, at least 1. Default 10,000. Beyond them `send`
    /// waits and `trySend` fails. Events whose results were not read count too.
    public var maxPendingEvents = 10_000
    /// The maximum bytes of these events, at least 1. Default 8 MiB. A larger event is accepted
    /// only while the client holds no other.
    public var maxPendingBytes = 8 << 20
    /// Whether `results` contains every event's result. If set, the results must be read. Default
    /// false.
    public var collectsResults = false
    /// Whether the results of accepted events contain their hits and warnings. Default false.
    public var reportsAccepted = false
    /// The time between PINGs on a connection with an open stream. Default 20 s.
    public var keepaliveTime: Duration = .seconds(20)
    /// How long the PING's answer may take before the connection counts as dead, at most as long
    /// as `keepaliveTime`. Default 10 s.
    public var keepaliveTimeout: Duration = .seconds(10)
    /// How long requests may remain without an answer, and a new stream without its first one,
    /// before the client ends the stream. Default 2 minutes.
    public var answerTimeout: Duration = .seconds(120)
    /// The TLS settings of connections. Default: no TLS.
    public var security = ClientSecurity()
    /// An API key or a token. Default none.
    public var credential: ClientCredential?
    /// Keeps events on disk until they are settled. Default none.
    public var spool: SpoolConfiguration?
    /// Whether the end of a process whose client was not closed waits for verdicts, for at most
    /// 10 s, and tells what is lost on standard error and by the exit code 1. Default true.
    public var flushesAtExit = true
    /// Called when a stream has ended before all its events were settled; without it the first of
    /// them is logged. It must not block.
    public var onInterruption: (@Sendable (Interruption) -> Void)?

    /// Why a stream ended, and when the client connects again.
    public struct Interruption: Sendable, Equatable {
        /// The name of the status, e.g. `UNAVAILABLE`.
        public let code: String
        /// The reason as text; it may come from the server.
        public let reason: String
        /// The delay before the client connects again.
        public let delay: Duration
        /// The stream's error, classified.
        package let failure: StreamFailure
    }

    /// Creates a configuration with the defaults.
    public init(address: ServerAddress) { self.address = address }

    /// How long a PING's answer may take. Each PING restarts the time of the one before
    /// (grpc-swift-nio-transport 2.9.2): one longer than the interval would never end.
    package var pingTimeout: Duration { min(self.keepaliveTimeout, self.keepaliveTime) }

    /// - Throws: `SightlineClientError.badConfiguration`.
    func validate() throws(SightlineClientError) {
        let largest = RequestLimits.largestRequestByteCount
        let numbers = [
            ("limits.maxEvents", self.limits.maxEvents, Int.max),
            ("limits.maxRequestBytes", self.limits.maxRequestBytes, largest),
            ("limits.maxUnacknowledgedRequests", self.limits.maxUnacknowledgedRequests, Int.max),
            ("maxPendingEvents", self.maxPendingEvents, Int.max),
            ("maxPendingBytes", self.maxPendingBytes, Int.max),
            ("spool.maxBytes", self.spool?.maxBytes ?? 1, Int.max),
            ("spool.segmentBytes", self.spool?.segmentBytes ?? 1, Int.max),
        ]
        for (key, value, most) in numbers where !(1...most).contains(value) {
            let rule = most == Int.max ? "at least 1" : "1 to \(most)"
            throw .badConfiguration(key: key, value: "\(value)", rule: rule)
        }
        // A day is more than any of them needs, and sums of days do not overflow.
        let times = [
            ("linger", self.linger, Duration.zero),
            ("keepaliveTime", self.keepaliveTime, .seconds(1)),
            ("keepaliveTimeout", self.keepaliveTimeout, .milliseconds(1)),
            ("answerTimeout", self.answerTimeout, .milliseconds(1)),
        ]
        for (key, value, least) in times where !(least...(.seconds(86400))).contains(value) {
            throw .badConfiguration(key: key, value: "\(value)", rule: "\(least) to a day")
        }
    }
}
