package import ConfigurationKeys

/// Limits on connections: their number, age and idle time, and their PINGs.
package struct ConnectionConfiguration: KeyedConfiguration {
    /// The maximum number of connections.
    package var maxCount = 2000
    /// The maximum connections per address; for IPv6, per /64.
    package var maxPerAddress = 64
    /// The rate of new connections per address and second, with bursts of up to `maxPerAddress`.
    package var newPerSecond = 20
    /// Load balancers, whose connections carry many clients.
    package var trustedProxies: [AddressBlock] = []
    /// How long TLS handshake, preface and SETTINGS may take from accept on.
    package var handshakeTimeout = Duration.seconds(10)
    /// How long a connection may have no open stream.
    package var idleTimeout = Duration.seconds(300)
    /// After this long without a byte, the server sends a keepalive PING.
    package var keepaliveInterval = Duration.seconds(60)
    /// How long the peer may take to answer that PING.
    package var keepaliveTimeout = Duration.seconds(20)
    /// The maximum age of a connection.
    package var maxAge = Duration.seconds(1800)
    /// How long a connection may take to end after the server's GOAWAY.
    package var grace = Duration.seconds(30)
    /// How long sent bytes may stay unacknowledged by the peer's TCP.
    package var userTimeout = Duration.seconds(30)
    /// PINGs that a peer may send in 30 s in any case.
    package var pingAllowance = 100
    /// Further PINGs for each DATA or HEADERS frame that the server sent. It has no key: clients of
    /// gRPC send one for each.
    package var pingsPerAnswer = 1

    /// Creates the default limits.
    package init() {}

    /// The keys `connections.*`.
    package static let keys: [Key] = [
        .number(
            "connections.max", \.maxCount, 1...1_000_000, "connections in all",
            unit: "connections"),
        .number(
            "connections.max_per_address", \.maxPerAddress, 1...1_000_000,
            "connections of one IPv4 address, or of one IPv6 /64", unit: "connections"),
        .number(
            "connections.new_per_second", \.newPerSecond, 1...1_000_000,
            "new connections of one address in each second, after as many at once as it may have",
            unit: "connections"),
        .init(
            "connections.trusted_proxies", of: \Self.trustedProxies, .text(""),
            "addresses of balancers, apart by commas: connections.max_per_address and "
                + "connections.new_per_second do not hold for them, connections.max does",
            unit: "CIDRs"
        ) { list, connections in
            connections.trustedProxies = Self.words(list).compactMap { AddressBlock($0) }
        } problems: { list in
            guard let wrong = Self.words(list).first(where: { AddressBlock($0) == nil })
            else { return [] }
            return ["each of its parts has to be \(AddressBlock.rule): \"\(wrong)\" is not"]
        },
        .duration(
            "connections.handshake_seconds", \.handshakeTimeout, 1...600,
            "seconds from accept until a peer's TLS handshake, preface and SETTINGS are whole"),
        .duration(
            "connections.idle_seconds", \.idleTimeout, 1...86_400,
            "seconds that a connection may be without a stream"),
        .duration(
            "connections.keepalive_seconds", \.keepaliveInterval, 1...86_400,
            "seconds without a byte after which the server sends a PING; not on the HTTP port"),
        .duration(
            "connections.keepalive_timeout_seconds", \.keepaliveTimeout, 1...600,
            "seconds that a peer may take to answer that PING; not on the HTTP port"),
        .duration(
            "connections.max_age_seconds", \.maxAge, 1...604_800,
            "seconds after which a connection is ended, its streams told first; 10 % more or less, "
                + "drawn for each"),
        .duration(
            "connections.grace_seconds", \.grace, 3...600,
            "seconds that a connection has to end, once the server has begun to end it"),
        .duration(
            "connections.user_timeout_seconds", \.userTimeout, 1...3600,
            "seconds that sent bytes may wait for the peer's TCP to take them"),
        .number(
            "connections.pings_per_30_seconds", \.pingAllowance, 1...100_000,
            "PINGs that a peer may send in 30 s without a reason, one for each frame of an answer "
                + "not counted", unit: "PINGs"),
    ]
    /// The words of a list, apart by commas or spaces.
    private static func words(_ list: String) -> [Substring] { list.split { ", ".contains($0) } }
}
