// The `admin.*` keys.
internal import AdminServer

extension ConfigurationKey {
    /// The keys of the admin server, in the order of the documentation.
    static let admin: [ConfigurationKey] = [
        .init(
            "admin.listen", .text("127.0.0.1:9464"),
            "address and port of the admin server (HTTP), or off", unit: "address"),
        .init(
            "admin.allow_insecure", .flag(false),
            "whether admin.listen may be open to the network: it asks for no credentials"),
        .init(
            "admin.host_names", .text(""),
            "names by which it may be asked, besides localhost and IP addresses", unit: "names"),
        .init(
            "admin.max_connections", .number(32, 1...10_000),
            "connections of the admin server; more wait to be accepted", unit: "connections"),
        .init(
            "admin.header_bytes", .number(8 << 10, 256...(64 << 10)),
            "bytes of a request's header fields"),
        .init(
            "admin.answer_seconds", .number(30, 1...3600),
            "seconds in which a connection has to have one more answer, or it is closed"),
        .init(
            "admin.history_seconds", .number(300, 10...3600),
            "seconds that the page looks back, a row of figures each"),
        .init(
            "admin.max_deliveries", .number(1000, 10...100_000),
            "deliveries whose funnels are counted; a new one takes the least busy one's place",
            unit: "deliveries"),
        .init(
            "admin.max_rejections", .number(50, 1...1000),
            "fields and rules whose last rejections are remembered", unit: "rows"),
    ]
}

extension AdminConfiguration {
    /// Reads the keys.
    init(_ values: inout ConfigurationValues) {
        self.init()
        let listen = values.text("admin.listen")
        self.address = nil
        if listen != Self.off {
            let (host, port) = values.address("admin.listen", listen)
            self.address = Address(host: host, port: port)
        }
        self.allowInsecure = values.flag("admin.allow_insecure")
        self.hostNames = values.text("admin.host_names").split { ", ".contains($0) }
            .map { $0.lowercased() }
        self.maxConnections = values.number("admin.max_connections")
        self.headerBytes = values.number("admin.header_bytes")
        self.answerTimeout = .seconds(values.number("admin.answer_seconds"))
        self.historySeconds = values.number("admin.history_seconds")
        self.maxDeliveries = values.number("admin.max_deliveries")
        self.maxRejections = values.number("admin.max_rejections")
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
