// How the nats sink reaches its servers and keeps its stream. Known to builds without the sink too,
// so that a configuration means the same in all of them.

/// Servers, stream and limits of the nats sink.
package struct NATSConfiguration: Sendable, Equatable {
    /// URLs, as in `nats://host:4222` or `tls://host:4222`; the first that answers is taken.
    package var servers = ["nats://127.0.0.1:4222"]
    /// The stream's name.
    package var stream = "SIGHTLINE"
    /// What every subject begins with: the stream holds `{prefix}.>`.
    package var subjectPrefix = "sightline"
    /// Whether a stream that is missing is made. Default true.
    package var makesStream = true
    /// Servers that hold the stream, at least. Default 1.
    package var replicas = 1
    /// Bytes that the stream may hold, at least; at its limit it refuses. Default 8 GiB.
    package var maxBytes = 8 << 30
    /// How long a stream that is made keeps a hit; zero for ever. Default 7 days.
    package var maxAge = Duration.seconds(7 * 86_400)
    /// For how long the stream knows a hit id again, at least. Default 15 min.
    package var duplicateWindow = Duration.seconds(900)
    /// How long a hit stays in the journal after the stream has acked it: a server acks before it
    /// syncs. Default 10 min.
    package var retention = Duration.seconds(600)
    /// How long an ack may take before its hit is sent again. Default 5 s.
    package var ackTimeout = Duration.seconds(5)
    /// Hits that may be under way. Default 4,096.
    package var maxInFlight = 4096
    /// A file of JWT and seed, as nsc writes it; empty for none.
    package var credentialsFile = ""
    /// A user, and the file of its password; empty for none.
    package var user = ""
    /// The file of that user's password.
    package var passwordFile = ""
    /// Authorities that the server's certificate comes from, a PEM file; empty for the system's.
    package var tlsRoots = ""
    /// The certificate that is shown to the server, a PEM file; empty for none.
    package var tlsCertificate = ""
    /// The key of that certificate.
    package var tlsKey = ""

    /// Every value at its default.
    package init() {}
}
