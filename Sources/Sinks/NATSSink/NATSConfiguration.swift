package import ConfigurationKeys

/// Settings of the nats sink. Builds without the sink have them too, so that a configuration is
/// valid in all builds or in none.
package struct NATSConfiguration: KeyedConfiguration, Equatable {
    /// URLs such as `nats://host:4222` or `tls://host:4222`, all of one scheme; the first that
    /// answers is used.
    package var servers = ["nats://127.0.0.1:4222"]
    /// The stream's name.
    package var stream = "SIGHTLINE"
    /// The first part of every subject: the stream captures `{prefix}.>`.
    package var subjectPrefix = "sightline"
    /// Whether to create a missing stream.
    package var makesStream = true
    /// The minimum number of replicas.
    package var replicas = 1
    /// The minimum capacity of the stream in bytes.
    package var maxBytes = 8 << 30
    /// How long a stream that the sink creates keeps a hit; zero for ever.
    package var maxAge = Duration.seconds(7 * 86_400)
    /// The minimum duplicate window of the stream.
    package var duplicateWindow = Duration.seconds(900)
    /// How long a hit stays in the journal after its ack, because a server acks before it syncs.
    package var retention = Duration.seconds(600)
    /// How long to wait for an ack before the hit is sent again.
    package var ackTimeout = Duration.seconds(5)
    /// The maximum number of hits in flight.
    package var maxInFlight = 4096
    /// The path of a credentials file (JWT and seed) as nsc writes it; empty for none.
    package var credentialsFile = ""
    /// The user name; empty for none.
    package var user = ""
    /// The path of the file with the user's password.
    package var passwordFile = ""
    /// The path of a PEM file with CAs that are accepted besides the system's; empty for none.
    package var tlsRoots = ""
    /// The path of the client certificate (PEM); empty for none.
    package var tlsCertificate = ""
    /// The path of the client certificate's key.
    package var tlsKey = ""

    /// Creates the default settings.
    package init() {}

    /// Whether no connection may do without TLS. The library does not read it from a URL's scheme.
    var isTLS: Bool {
        self.servers.contains(where: Self.asksForTLS) || !self.tlsRoots.isEmpty
            || !self.tlsCertificate.isEmpty
    }

    /// Whether a server's URL asks for TLS.
    static func asksForTLS(_ server: String) -> Bool {
        server.drop(while: \.isWhitespace).lowercased().hasPrefix("tls://")
    }

    /// The keys `nats.*`.
    package static let keys: [Key] = [
        .init(
            "nats.servers", of: \Self.servers, .text("nats://127.0.0.1:4222"),
            "servers, with commas between them; tls:// in place of nats://, in all of them, asks "
                + "for TLS",
            unit: "URLs"
        ) { text, nats in nats.servers = text.split(separator: ",").map(String.init) },
        .text("nats.stream", \.stream, "name of the JetStream stream", unit: "name"),
        .text(
            "nats.subject_prefix", \.subjectPrefix,
            "what subjects begin with: {prefix}.{tenant}.{app}.{kind}.{action}", unit: "subject"),
        .flag("nats.make_stream", \.makesStream, "whether a stream that is missing is made"),
        .number(
            "nats.replicas", \.replicas, 1...5, "servers that hold the stream, at least",
            unit: "servers"),
        .number(
            "nats.max_bytes", \.maxBytes, 1...(1 << 50),
            "bytes that the stream holds, at least; a full one refuses hits"),
        .duration(
            "nats.max_age_seconds", \.maxAge, 0...(3650 * 86_400),
            "seconds that a stream which is made keeps a hit; 0 for ever"),
        .duration(
            "nats.duplicate_seconds", \.duplicateWindow, 1...(30 * 86_400),
            "seconds for which the stream knows a hit again, at least"),
        .duration(
            "nats.retain_seconds", \.retention, 0...(30 * 86_400),
            "seconds that a batch is kept after the stream has it, to be fed again after a loss"),
        .duration(
            "nats.ack_seconds", \.ackTimeout, 1...60,
            "seconds that the stream's ack may take before a hit is sent again"),
        .number(
            "nats.max_in_flight", \.maxInFlight, 1...65_536,
            "hits that may wait for their ack", unit: "hits"),
        .text("nats.credentials_file", \.credentialsFile, "JWT and seed, as nsc writes them"),
        .text("nats.user", \.user, "who the server knows us as", unit: "name"),
        .text("nats.password_file", \.passwordFile, "that user's password, in one line"),
        .text(
            "nats.tls.roots", \.tlsRoots, "CAs that are accepted besides the system's",
            unit: "PEM file"),
        .text(
            "nats.tls.certificate", \.tlsCertificate, "the certificate shown to the servers",
            unit: "PEM file"),
        .text("nats.tls.key", \.tlsKey, "the key of that certificate", unit: "PEM file"),
    ]
}
