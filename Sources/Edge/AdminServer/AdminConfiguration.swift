package import ConfigurationKeys

/// The settings `admin.*`: where the admin server listens, and its limits.
package struct AdminConfiguration: KeyedConfiguration {
    /// Host and port; nil disables the admin server.
    package var address: ListenAddress? = ListenAddress(host: "127.0.0.1", port: 9464)
    /// Whether it may listen on addresses other than loopback.
    package var allowInsecure = false
    /// Host names that requests may use.
    package var hostNames: [String] = []
    /// The maximum open connections.
    package var maxConnections = 32
    /// The maximum bytes of a request's header fields.
    package var headerBytes = 8 << 10
    /// How long a connection may take to complete an answer.
    package var answerTimeout = Duration.seconds(30)
    /// The seconds of history on the page and in `stats.json`.
    package var historySeconds = 300

    /// Creates the default settings.
    package init() {}

    /// The keys `admin.*`.
    package static let keys: [Key] = [
        .init(
            "admin.listen", of: \Self.address, .text("127.0.0.1:9464"),
            "address and port of the admin server (HTTP), or off", unit: "address"),
        .flag(
            "admin.allow_insecure", \.allowInsecure,
            "whether admin.listen may be open to the network: it asks for no credentials"),
        .init(
            "admin.host_names", .text(""),
            "names by which it may be asked, besides localhost and IP addresses", unit: "names"
        ) { text, admin in
            admin.hostNames = text.split { ", ".contains($0) }.map { $0.lowercased() }
        },
        .number(
            "admin.max_connections", \.maxConnections, 1...10_000,
            "connections of the admin server; more wait to be accepted, but up to 3 that came "
                + "together with the last", unit: "connections"),
        .number(
            "admin.header_bytes", \.headerBytes, 256...(64 << 10),
            "bytes of a request's header fields"),
        .duration(
            "admin.answer_seconds", \.answerTimeout, 1...3600,
            "seconds in which a connection has to have one more answer, or it is closed"),
        .number(
            "admin.history_seconds", \.historySeconds, 10...3600,
            "seconds that the page looks back, a row of figures each"),
    ]
}
