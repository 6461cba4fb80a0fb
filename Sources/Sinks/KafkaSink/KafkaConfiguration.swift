package import ConfigurationKeys

/// Settings of the kafka sink. Builds without the sink have them too, so that a configuration is
/// valid in all builds or in none.
package struct KafkaConfiguration: KeyedConfiguration, Equatable {
    /// What a message's key is made of.
    package enum MessageKey: String, CaseIterable, Sendable {
        /// The broadlog id, or the hit id where there is none: all hits of a notification are in
        /// one partition, in their order.
        case notification
        /// The hit id.
        case hit
    }

    /// How batches are compressed.
    package enum Compression: String, CaseIterable, Sendable {
        case none, gzip, snappy, lz4, zstd
    }

    /// How the brokers are told who we are.
    package enum Mechanism: String, CaseIterable, Sendable {
        case none
        case plain
        case scram256 = "scram-sha-256"
        case scram512 = "scram-sha-512"
    }

    /// Where the cluster is asked for its brokers: `host` or `host:port`, with commas between them.
    package var brokers = "127.0.0.1:9092"
    /// The topic, with `{tenant}` and `{kind}` where they are wanted.
    package var topic = "sightline"
    /// What a message's key is made of.
    package var key = MessageKey.notification
    /// How batches are compressed.
    package var compression = Compression.none
    /// How long a connection may take, with TLS and SASL.
    package var connectTimeout = Duration.seconds(5)
    /// How long a broker may take for an answer before the connection is made anew.
    package var requestTimeout = Duration.seconds(5)
    /// How long no hit may be reported before the batch counts as unavailable.
    package var deliveryTimeout = Duration.seconds(10)
    /// How long no hit may be reported, with brokers that answer, before the producer is replaced.
    /// It has no key: it is for a state of the library that nobody can foresee.
    package var renewInterval = Duration.seconds(120)
    /// How long a hit may wait for others of its batch.
    package var linger = Duration.milliseconds(5)
    /// The interval of the library's statistics.
    package var statisticsInterval = Duration.seconds(5)
    /// The maximum bytes of a batch that is sent to a partition.
    package var maxBatchBytes = 1_000_000
    /// The maximum bytes of a message, and of a request.
    package var maxMessageBytes = 1_000_000
    /// The maximum number of requests that a broker has not answered.
    package var maxInFlight = 5
    /// The maximum number of topics that one producer has.
    package var maxTopics = 1000
    /// The maximum number of hits in the library's queue.
    package var maxQueuedHits = 50_000
    /// The maximum bytes of values in the library's queue; keys and headers are not counted.
    package var maxQueuedBytes = 64 << 20
    /// Whether connections use TLS.
    package var isTLS = false
    /// The path of a PEM file with the accepted CAs; empty for the system's.
    package var tlsRoots = ""
    /// The path of the client certificate (PEM); empty for none.
    package var tlsCertificate = ""
    /// The path of the client certificate's key.
    package var tlsKey = ""
    /// The path of the file with that key's password; empty for none.
    package var tlsKeyPasswordFile = ""
    /// How the brokers are told who we are.
    package var mechanism = Mechanism.none
    /// The user name.
    package var user = ""
    /// The path of the file with the user's password.
    package var passwordFile = ""

    /// Creates the default settings.
    package init() {}

    /// The keys `kafka.*`.
    package static let keys: [Key] = Self.targets + Self.times + Self.sizes + Self.security

    private static let targets: [Key] = [
        .text(
            "kafka.brokers", \.brokers,
            "brokers that are asked for the others: HOST:PORT, with commas between them",
            unit: "addresses"),
        .text(
            "kafka.topic", \.topic, "topic, with {tenant} and {kind} where they are wanted",
            unit: "name"),
        .choice(
            "kafka.key", \.key,
            "what a message's key is: notification (the broadlog id, else the hit id) keeps the "
                + "order of each notification's hits"),
        .choice("kafka.compression", \.compression, "how batches are compressed"),
    ]

    private static let times: [Key] = [
        .duration(
            "kafka.connect_seconds", \.connectTimeout, 1...60,
            "seconds to connect, with TLS and SASL"),
        .duration(
            "kafka.request_seconds", \.requestTimeout, 1...60,
            "seconds for a broker's answer; then the connection is made anew, and the request is "
                + "sent again under its number"),
        .duration(
            "kafka.delivery_seconds", \.deliveryTimeout, 2...300,
            "seconds without a report on any hit until the sink counts as unavailable; longer than "
                + "kafka.request_seconds"),
        .duration(
            "kafka.linger_milliseconds", \.linger, 0...1000,
            "milliseconds that a hit may wait for others"),
        .duration(
            "kafka.statistics_seconds", \.statisticsInterval, 1...300,
            "seconds between two readings of the library's statistics, for the metrics"),
    ]

    private static let sizes: [Key] = [
        .number(
            "kafka.max_batch_bytes", \.maxBatchBytes, 1024...(100 << 20),
            "bytes of messages that are sent to a partition together; above "
                + "kafka.max_message_bytes they change nothing"),
        .number(
            "kafka.max_message_bytes", \.maxMessageBytes, 1024...(100 << 20),
            "bytes of a message; a hit that exceeds them is a dead letter"),
        .number(
            "kafka.max_in_flight", \.maxInFlight, 1...5,
            "requests that a broker may have to answer; it knows so many again", unit: "requests"),
        .number(
            "kafka.max_topics", \.maxTopics, 1...100_000,
            "topics of one producer; for one more it is replaced, once what it has sent is "
                + "confirmed", unit: "topics"),
        .number(
            "kafka.max_queued_hits", \.maxQueuedHits, 1...10_000_000,
            "hits in the library's queue, and in a delivery", unit: "hits"),
        .number(
            "kafka.max_queued_bytes", \.maxQueuedBytes, (1 << 20)...(1 << 40),
            "bytes of values in the library's queue, without keys and headers"),
    ]

    private static let security: [Key] = [
        .flag("kafka.tls.enabled", \.isTLS, "whether connections use TLS"),
        .text(
            "kafka.tls.roots", \.tlsRoots, "authorities of the brokers' certificates",
            unit: "PEM file"),
        .text(
            "kafka.tls.certificate", \.tlsCertificate, "the certificate shown to the brokers",
            unit: "PEM file"),
        .text("kafka.tls.key", \.tlsKey, "the key of that certificate", unit: "PEM file"),
        .text(
            "kafka.tls.key_password_file", \.tlsKeyPasswordFile,
            "the password of that key, in one line"),
        .choice(
            "kafka.sasl.mechanism", \.mechanism, "how the brokers are told who we are"),
        .text("kafka.sasl.user", \.user, "who the brokers know us as", unit: "name"),
        .text("kafka.sasl.password_file", \.passwordFile, "that user's password, in one line"),
    ]
}
