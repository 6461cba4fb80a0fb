/// Limits on connections: their number, age and idle time, and their PINGs.
package struct ConnectionConfiguration: Sendable {
    /// The maximum number of connections. Default 2,000.
    package var maxCount = 2000
    /// The maximum connections per address; for IPv6, per /64. Default 64.
    package var maxPerAddress = 64
    /// The rate of new connections per address and second, with bursts of up to `maxPerAddress`.
    /// Default 20.
    package var newPerSecond = 20
    /// Load balancers, whose connections carry many clients: `maxPerAddress` and `newPerSecond` do
    /// not apply to them. Default none.
    package var trustedProxies: [AddressBlock] = []
    /// The length of the kernel's queue of connections not yet accepted. Default 1,024.
    package var backlog = 1024
    /// How long TLS handshake, preface and SETTINGS may take from accept on. Default 10 s.
    package var handshakeTimeout = Duration.seconds(10)
    /// How long a connection may have no open stream. Default 5 min.
    package var idleTimeout = Duration.seconds(300)
    /// After this long without a byte, the server sends a keepalive PING. Default 60 s.
    package var keepaliveInterval = Duration.seconds(60)
    /// How long the peer may take to answer that PING. Default 20 s.
    package var keepaliveTimeout = Duration.seconds(20)
    /// The maximum age of a connection. Default 30 min.
    package var maxAge = Duration.seconds(1800)
    /// The random variation of the maximum age in percent, so that connections do not end all at
    /// once. Default 10.
    package var ageJitterPercent = 10
    /// How long a connection may take to end after the server's GOAWAY. Default 30 s.
    package var grace = Duration.seconds(30)
    /// How long sent bytes may stay unacknowledged by the peer's TCP. Default 30 s.
    package var userTimeout = Duration.seconds(30)
    /// PINGs that a peer may send in 30 s in any case. Default 100.
    package var pingAllowance = 100
    /// Further PINGs for each DATA or HEADERS frame that the server sent. Default 1.
    package var pingsPerAnswer = 1

    /// Creates the default limits.
    package init() {}
}
