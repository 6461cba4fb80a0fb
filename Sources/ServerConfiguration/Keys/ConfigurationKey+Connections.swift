// The `connections.*` keys.
internal import HTTP2Edge

extension ConfigurationKey {
    /// The keys of connections, in the order of the documentation.
    static let connections: [ConfigurationKey] = [
        .init(
            "connections.max", .number(2000, 1...1_000_000), "connections in all",
            unit: "connections"),
        .init(
            "connections.max_per_address", .number(64, 1...1_000_000),
            "connections of one IPv4 address, or of one IPv6 /64", unit: "connections"),
        .init(
            "connections.new_per_second", .number(20, 1...1_000_000),
            "new connections of one address in each second, after as many at once as it may have",
            unit: "connections"),
        .init(
            "connections.trusted_proxies", .text(""),
            "addresses of balancers, apart by commas: connections.max_per_address and "
                + "connections.new_per_second do not hold for them, connections.max does",
            unit: "CIDRs"),
        .init(
            "connections.backlog", .number(1024, 1...65_535),
            "connections that the kernel holds until they are accepted", unit: "connections"),
        .init(
            "connections.handshake_seconds", .number(10, 1...600),
            "seconds from accept until a peer's TLS handshake, preface and SETTINGS are whole"),
        .init(
            "connections.idle_seconds", .number(300, 1...86_400),
            "seconds that a connection may be without a stream"),
        .init(
            "connections.keepalive_seconds", .number(60, 1...86_400),
            "seconds without a byte after which the server sends a PING"),
        .init(
            "connections.keepalive_timeout_seconds", .number(20, 1...600),
            "seconds that a peer may take to answer that PING"),
        .init(
            "connections.max_age_seconds", .number(1800, 1...604_800),
            "seconds after which a connection is ended, its streams told first"),
        .init(
            "connections.age_jitter_percent", .number(10, 0...50),
            "share of that age by which each connection's own is drawn up or down"),
        .init(
            "connections.grace_seconds", .number(30, 3...600),
            "seconds that a connection has to end, once the server has begun to end it"),
        .init(
            "connections.user_timeout_seconds", .number(30, 1...3600),
            "seconds that sent bytes may wait for the peer's TCP to take them"),
        .init(
            "connections.pings_per_30_seconds", .number(100, 1...100_000),
            "PINGs that a peer may send in 30 s without a reason", unit: "PINGs"),
        .init(
            "connections.pings_per_answer", .number(1, 0...100),
            "PINGs that it may send beyond that for each frame of an answer", unit: "PINGs"),
    ]
}

extension ConnectionConfiguration {
    /// Reads the keys.
    init(_ values: inout ConfigurationValues) {
        self.init()
        let proxies = values.text("connections.trusted_proxies").split { ", ".contains($0) }
        self.trustedProxies = proxies.compactMap { AddressBlock($0) }
        if let wrong = proxies.first(where: { AddressBlock($0) == nil }) {
            values.refuse(
                "connections.trusted_proxies",
                "each of its parts has to be \(AddressBlock.rule): \"\(wrong)\" is not")
        }
        self.maxCount = values.number("connections.max")
        self.maxPerAddress = values.number("connections.max_per_address")
        self.newPerSecond = values.number("connections.new_per_second")
        self.backlog = values.number("connections.backlog")
        self.handshakeTimeout = .seconds(values.number("connections.handshake_seconds"))
        self.idleTimeout = .seconds(values.number("connections.idle_seconds"))
        self.keepaliveInterval = .seconds(values.number("connections.keepalive_seconds"))
        self.keepaliveTimeout = .seconds(values.number("connections.keepalive_timeout_seconds"))
        self.maxAge = .seconds(values.number("connections.max_age_seconds"))
        self.ageJitterPercent = values.number("connections.age_jitter_percent")
        self.grace = .seconds(values.number("connections.grace_seconds"))
        self.userTimeout = .seconds(values.number("connections.user_timeout_seconds"))
        self.pingAllowance = values.number("connections.pings_per_30_seconds")
        self.pingsPerAnswer = values.number("connections.pings_per_answer")
    }
}
