package import ConfigurationKeys
package import TrackingRules

/// Settings of the postgresql sink. Builds without the sink have them too, so that a configuration
/// is valid in all builds or in none.
package struct PostgreSQLConfiguration: KeyedConfiguration, Equatable {
    /// User, hosts and database, as in `postgresql://sightline@db.example.com/sightline`.
    package var url = ""
    /// The path of the file with the user's password; empty for none.
    package var passwordFile = ""
    /// The schema with the sink's tables.
    package var schema = "sightline"
    /// Whether the sink creates its tables and partitions.
    package var migrates = true
    /// How many days before its receipt an event's own day still decides the partition.
    package var lateDays = 7
    /// How many days ahead partitions are created.
    package var aheadDays = 7
    /// How many days are kept; 0 for ever.
    package var retentionDays = 0
    /// How long delivered hits stay in the journal, in case a standby without them takes over.
    package var retention = Duration.seconds(60)
    /// The most that is taken at once.
    package var maxBatch = BatchLimit.standard
    /// How many hits of a tenant in one batch are found one by one where the server refuses them.
    package var maxRefused = 100
    /// How long connecting to one host may take.
    package var connectTimeout = Duration.seconds(5)
    /// How long the server may work on one statement.
    package var statementTimeout = Duration.seconds(30)
    /// How long a change of tables waits for other sessions.
    package var lockTimeout = Duration.seconds(2)
    /// How long sent bytes may stay unacknowledged.
    package var tcpUserTimeout = Duration.seconds(15)
    /// The time between probes of an idle connection.
    package var keepAlive = Duration.seconds(10)
    /// What the server has to be.
    package var target = Target.readWrite
    /// How much TLS proves.
    package var tlsMode = TLSMode.verifyFull
    /// The path of a PEM file with the accepted CAs; empty for the system's.
    package var tlsRoots = ""
    /// The path of the client certificate (PEM); empty for none.
    package var tlsCertificate = ""
    /// The path of the client certificate's key.
    package var tlsKey = ""

    /// libpq's `target_session_attrs`, as far as a sink can use them.
    package enum Target: String, CaseIterable, Sendable {
        /// Sessions have to be able to write.
        case readWrite = "read-write"
        /// The server must not be a standby.
        case primary
        /// Whatever answers first.
        case any
    }

    /// libpq's `sslmode`, without `allow`.
    package enum TLSMode: String, CaseIterable, Sendable {
        /// Never.
        case disable
        /// If the server offers it; proves nothing.
        case prefer
        /// Always; proves nothing.
        case require
        /// The certificate has to be signed by one of the authorities.
        case verifyCA = "verify-ca"
        /// It has to be the host's too.
        case verifyFull = "verify-full"
    }

    /// Creates the default settings.
    package init() {}
}

extension PostgreSQLConfiguration {
    /// The keys `postgresql.*`.
    package static let keys: [Key] = Self.placeKeys + Self.tableKeys + Self.timeKeys + Self.tlsKeys

    private static let placeKeys: [Key] = [
        .text(
            "postgresql.url", \.url,
            "user, hosts (the first that may be written is used) and database, as in "
                + "postgresql://sightline@db1,db2:5433/sightline; without a password",
            unit: "URL", isSecret: true),
        .text(
            "postgresql.password_file", \.passwordFile,
            "that user's password, in one line; read again for each connection"),
        .choice(
            "postgresql.target_session_attrs", \.target,
            "which of the hosts is used: one that takes writes, one that is no standby, any"),
    ]

    private static let tableKeys: [Key] = [
        .text("postgresql.schema", \.schema, "schema with the sink's tables", unit: "name"),
        .flag(
            "postgresql.migrate", \.migrates,
            "whether the sink creates its tables and partitions; if not, an operator does with "
                + "the output of sightline sinks sql postgresql"),
        .number(
            "postgresql.late_days", \.lateDays, 0...366,
            "days by which an event may be older than its receipt and still stand in its own "
                + "day's partition", unit: "days"),
        .number(
            "postgresql.ahead_days", \.aheadDays, 1...366,
            "days ahead for which partitions are created", unit: "days"),
        .number(
            "postgresql.retention_days", \.retentionDays, 0...36_500,
            "days whose partitions are kept; 0 for all; needs postgresql.migrate", unit: "days"),
        .duration(
            "postgresql.retain_seconds", \.retention, 0...(30 * 86_400),
            "seconds that a batch is kept in the journal after its commit, to be delivered again "
                + "if a standby without it takes over"),
        .number(
            "postgresql.max_hits", \.maxBatch.hits, 1...1_000_000, "hits in a transaction",
            unit: "hits"),
        .number(
            "postgresql.max_bytes", \.maxBatch.bytes, 1024...(256 << 20),
            "bytes of groups in a transaction"),
        .number(
            "postgresql.max_refused", \.maxRefused, 1...1_000_000,
            "hits of a tenant in one batch that are found one by one where the server refuses "
                + "them; then by the thousand, or the sink waits if the server stores nothing and "
                + "refuses a test hit too", unit: "hits"),
    ]

    private static let timeKeys: [Key] = [
        .duration(
            "postgresql.connect_seconds", \.connectTimeout, 1...60,
            "seconds to connect to one host"),
        .duration(
            "postgresql.statement_seconds", \.statementTimeout, 1...300,
            "seconds of one statement (statement_timeout)"),
        .duration(
            "postgresql.lock_seconds", \.lockTimeout, 1...60,
            "seconds that a change of tables waits for other sessions (lock_timeout)"),
        .duration(
            "postgresql.tcp_user_timeout_seconds", \.tcpUserTimeout, 1...300,
            "seconds that sent bytes may stay unacknowledged (tcp_user_timeout)"),
        .duration(
            "postgresql.keepalive_seconds", \.keepAlive, 1...3600,
            "seconds between probes of an idle connection; it ends if none is answered within "
                + "postgresql.tcp_user_timeout_seconds"),
    ]

    private static let tlsKeys: [Key] = [
        .choice("postgresql.tls.mode", \.tlsMode, "how much TLS proves (sslmode)"),
        .text(
            "postgresql.tls.roots", \.tlsRoots, "authorities of the servers' certificates",
            unit: "PEM file"),
        .text(
            "postgresql.tls.certificate", \.tlsCertificate, "the certificate shown to the servers",
            unit: "PEM file"),
        .text(
            "postgresql.tls.key", \.tlsKey, "the key of that certificate", unit: "PEM file"),
    ]
}
