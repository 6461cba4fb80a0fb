// The `admin.*` keys.
internal import AdminServer

extension ConfigurationKey {
    /// The keys of the admin server, in the order of the documentation.
    static let admin: [ConfigurationKey] = [
        .init(
            "admin.listen", .text("127.0.0.1:9464"),
            "address and port of the admin server (HTTP), or off", unit: "address"),
        .flag(
            "admin.allow_insecure", \.admin.allowInsecure,
            "whether admin.listen may be open to the network: it asks for no credentials"),
        .init(
            "admin.host_names", .text(""),
            "names by which it may be asked, besides localhost and IP addresses", unit: "names"),
        .number(
            "admin.max_connections", \.admin.maxConnections, 1...10_000,
            "connections of the admin server; more wait to be accepted", unit: "connections"),
        .number(
            "admin.header_bytes", \.admin.headerBytes, 256...(64 << 10),
            "bytes of a request's header fields"),
        .duration(
            "admin.answer_seconds", \.admin.answerTimeout, 1...3600,
            "seconds in which a connection has to have one more answer, or it is closed"),
        .number(
            "admin.history_seconds", \.admin.historySeconds, 10...3600,
            "seconds that the page looks back, a row of figures each"),
        .number(
            "admin.max_deliveries", \.admin.maxDeliveries, 10...100_000,
            "deliveries whose funnels are counted; a new one takes the least busy one's place",
            unit: "deliveries"),
        .number(
            "admin.max_rejections", \.admin.maxRejections, 1...1000,
            "fields and rules whose last rejections are remembered", unit: "rows"),
    ]
}

extension AdminConfiguration {
    /// Reads what is more than one value.
    mutating func read(_ values: inout ConfigurationValues) {
        let listen = values.text("admin.listen")
        self.address = nil
        if listen != Self.off {
            let (host, port) = values.address("admin.listen", listen)
            self.address = Address(host: host, port: port)
        }
        self.hostNames = values.text("admin.host_names").split { ", ".contains($0) }
            .map { $0.lowercased() }
        if let exposure = self.exposure { values.refuse("admin.listen", exposure) }
    }

    private static let off = "off"

    /// Why it must not listen on its address; nil where it may.
    private var exposure: String? {
        guard let address = self.address, !self.allowInsecure,
            !ServerConfiguration.isLoopback(address.host)
        else { return nil }
        return "anybody on the network could read what the server does: listen on 127.0.0.1 or "
            + "[::1], or allow it by admin.allow_insecure: true"
    }
}
