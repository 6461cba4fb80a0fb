// The `connections.*` keys.
internal import HTTP2Edge

extension ConfigurationKey {
    /// The keys of connections, in the order of the documentation.
    static let connections: [ConfigurationKey] = [
        .number(
            "connections.max", \.connections.maxCount, 1...1_000_000, "connections in all",
            unit: "connections"),
        .number(
            "connections.max_per_address", \.connections.maxPerAddress, 1...1_000_000,
            "connections of one IPv4 address, or of one IPv6 /64", unit: "connections"),
        .number(
            "connections.new_per_second", \.connections.newPerSecond, 1...1_000_000,
            "new connections of one address in each second, after as many at once as it may have",
            unit: "connections"),
        .init(
            "connections.trusted_proxies", .text(""),
            "addresses of balancers, apart by commas: connections.max_per_address and "
                + "connections.new_per_second do not hold for them, connections.max does",
            unit: "CIDRs"),
        .number(
            "connections.backlog", \.connections.backlog, 1...65_535,
            "connections that the kernel holds until they are accepted", unit: "connections"),
        .duration(
            "connections.handshake_seconds", \.connections.handshakeTimeout, 1...600,
            "seconds from accept until a peer's TLS handshake, preface and SETTINGS are whole"),
        .duration(
            "connections.idle_seconds", \.connections.idleTimeout, 1...86_400,
            "seconds that a connection may be without a stream"),
        .duration(
            "connections.keepalive_seconds", \.connections.keepaliveInterval, 1...86_400,
            "seconds without a byte after which the server sends a PING"),
        .duration(
            "connections.keepalive_timeout_seconds", \.connections.keepaliveTimeout, 1...600,
            "seconds that a peer may take to answer that PING"),
        .duration(
            "connections.max_age_seconds", \.connections.maxAge, 1...604_800,
            "seconds after which a connection is ended, its streams told first"),
        .number(
            "connections.age_jitter_percent", \.connections.ageJitterPercent, 0...50,
            "share of that age by which each connection's own is drawn up or down"),
        .duration(
            "connections.grace_seconds", \.connections.grace, 3...600,
            "seconds that a connection has to end, once the server has begun to end it"),
        .duration(
            "connections.user_timeout_seconds", \.connections.userTimeout, 1...3600,
            "seconds that sent bytes may wait for the peer's TCP to take them"),
        .number(
            "connections.pings_per_30_seconds", \.connections.pingAllowance, 1...100_000,
            "PINGs that a peer may send in 30 s without a reason", unit: "PINGs"),
        .number(
            "connections.pings_per_answer", \.connections.pingsPerAnswer, 0...100,
            "PINGs that it may send beyond that for each frame of an answer", unit: "PINGs"),
    ]
}

extension ConnectionConfiguration {
    /// Reads what is more than one value.
    mutating func read(_ values: inout ConfigurationValues) {
        let proxies = values.text("connections.trusted_proxies").split { ", ".contains($0) }
        self.trustedProxies = proxies.compactMap { AddressBlock($0) }
        if let wrong = proxies.first(where: { AddressBlock($0) == nil }) {
            values.refuse(
                "connections.trusted_proxies",
                "each of its parts has to be \(AddressBlock.rule): \"\(wrong)\" is not")
        }
    }
}
