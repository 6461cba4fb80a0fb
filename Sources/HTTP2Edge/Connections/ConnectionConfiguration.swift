// What a connection may do, and for how long.

/// The bounds of connections: how many, how long, how silent, how many PINGs.
package struct ConnectionConfiguration: Sendable {
    /// Connections in all. Default 2,000.
    package var maxCount = 2000
    /// Connections of one address; of IPv6, of one /64. Default 64.
    package var maxPerAddress = 64
    /// New connections of one address in each second, after as many at once as it may have.
    /// Default 20.
    package var newPerSecond = 20
    /// Addresses of balancers, whose connections are those of many clients: `maxPerAddress` and
    /// `newPerSecond` do not hold for them. Default none.
    package var trustedProxies: [AddressBlock] = []
    /// Connections that the kernel holds for us until they are accepted. Default 1,024.
    package var backlog = 1024
    /// How long a peer may take from accept until its preface and SETTINGS are whole, TLS included.
    /// Default 10 s.
    package var handshakeTimeout = Duration.seconds(10)
    /// How long a connection may be without a stream. Default 5 min.
    package var idleTimeout = Duration.seconds(300)
    /// After how long without a byte the server asks whether the peer is there. Default 60 s.
    package var keepaliveInterval = Duration.seconds(60)
    /// How long the peer may take to answer that. Default 20 s.
    package var keepaliveTimeout = Duration.seconds(20)
    /// How old a connection gets. Default 30 min.
    package var maxAge = Duration.seconds(1800)
    /// By how many percent its age is drawn up or down, so that not all of them end at once.
    /// Default 10.
    package var ageJitterPercent = 10
    /// How long a connection that the server has begun to end may still take. Default 30 s.
    package var grace = Duration.seconds(30)
    /// How long sent bytes may be without the peer's TCP taking them. Default 30 s.
    package var userTimeout = Duration.seconds(30)
    /// PINGs that a peer may send in 30 s without a reason. Default 100.
    package var pingAllowance = 100
    /// PINGs that it may send beyond that for each DATA or HEADERS frame from us. Default 1.
    package var pingsPerAnswer = 1

    /// Every value at its default.
    package init() {}
}
