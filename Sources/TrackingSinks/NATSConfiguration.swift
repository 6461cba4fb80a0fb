/// Settings of the nats sink. Builds without the sink have them too, so that a configuration is
/// valid in all builds or in none.
package struct NATSConfiguration: Sendable, Equatable {
    /// URLs such as `nats://host:4222` or `tls://host:4222`; the first that answers is used.
    package var servers = ["nats://127.0.0.1:4222"]
    /// The stream's name.
    package var stream = "SIGHTLINE"
    /// The first part of every subject: the stream captures `{prefix}.>`.
    package var subjectPrefix = "sightline"
    /// Whether to create a missing stream. Default true.
    package var makesStream = true
    /// The minimum number of replicas. Default 1.
    package var replicas = 1
    /// The minimum capacity of the stream in bytes; a full stream refuses hits. Default 8 GiB.
    package var maxBytes = 8 << 30
    /// How long a stream that the sink creates keeps a hit; zero for ever. Default 7 days.
    package var maxAge = Duration.seconds(7 * 86_400)
    /// The minimum duplicate window of the stream. Default 15 min.
    package var duplicateWindow = Duration.seconds(900)
    /// How long a hit stays in the journal after its ack, because a server acks before it syncs.
    /// Default 10 min.
    package var retention = Duration.seconds(600)
    /// How long to wait for an ack before the hit is sent again. Default 5 s.
    package var ackTimeout = Duration.seconds(5)
    /// The maximum number of hits in flight. Default 4,096.
    package var maxInFlight = 4096
    /// The path of a credentials file (JWT and seed) as nsc writes it; empty for none.
    package var credentialsFile = ""
    /// The user name; empty for none.
    package var user = ""
    /// The path of the file with the user's password.
    package var passwordFile = ""
    /// The path of a PEM file with the accepted CAs; empty for the system's.
    package var tlsRoots = ""
    /// The path of the client certificate (PEM); empty for none.
    package var tlsCertificate = ""
    /// The path of the client certificate's key.
    package var tlsKey = ""

    /// Creates the default settings.
    package init() {}
}
