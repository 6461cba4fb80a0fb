#if Kafka
// The library's settings: which brokers, how sure, how much at once, and who we are.
internal import CRdKafka
internal import ConfigurationKeys
internal import Foundation

/// Settings of a producer, as the library takes them.
struct KafkaOptions {
    private let configuration: KafkaConfiguration
    /// How much is sent to a partition together.
    private let batch: KafkaBatchSize

    init(_ configuration: KafkaConfiguration, _ batch: KafkaBatchSize) {
        self.configuration = configuration
        self.batch = batch
    }

    /// Makes the settings; they are the caller's to destroy or to hand on.
    ///
    /// - Throws: `ConfigurationError` where a file cannot be read, or a value is refused.
    func make() throws(ConfigurationError) -> OpaquePointer {
        guard let conf = rd_kafka_conf_new() else {
            throw ConfigurationError(["librdkafka has no room for its settings"])
        }
        do throws(ConfigurationError) {
            let secrets = try self.secrets()
            for (name, value) in self.delivery + self.limits + self.security {
                try Self.set(name, value, of: conf, shown: value)
            }
            for (name, value) in secrets { try Self.set(name, value, of: conf, shown: "•••") }
        } catch {
            rd_kafka_conf_destroy(conf)
            throw error
        }
        rd_kafka_conf_set_events(
            conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS)
        // What matters comes as an event: its log on standard error would not be ours.
        rd_kafka_conf_set_log_cb(conf) { _, _, _, _ in }
        return conf
    }

    private static func set(
        _ name: String, _ value: String, of conf: OpaquePointer, shown: String
    ) throws(ConfigurationError) {
        var reason = [CChar](repeating: 0, count: 512)
        let result = rd_kafka_conf_set(conf, name, value, &reason, reason.count)
        if result == RD_KAFKA_CONF_OK { return }
        // The library quotes the value.
        let words = shown == value ? KafkaProducer.text(reason) : "refused"
        throw ConfigurationError(["kafka: librdkafka's \(name) is \"\(shown)\": \(words)"])
    }

    /// Each message once and in order while the producer lives, on all replicas, and without end:
    /// a message that the library gives up may have arrived.
    private var delivery: [(String, String)] {
        [
            (
                "bootstrap.servers",
                KafkaBrokerList.brokers(of: self.configuration.brokers)
                    .joined(separator: ",")
            ),
            ("client.id", "sightline"), ("enable.idempotence", "true"), ("acks", "all"),
            // A message that fails for good ends the producer. To go on behind it, librdkafka 2.0.2
            // numbers its batches anew: some then had numbers of others, which brokers drop.
            ("enable.gapless.guarantee", "true"),
            ("message.timeout.ms", "0"), ("partitioner", "murmur2_random"),
            ("compression.codec", self.configuration.compression.rawValue),
            ("linger.ms", "\(self.configuration.linger.milliseconds)"),
            ("batch.size", "\(self.batch.bytes)"),
            ("batch.num.messages", "\(self.batch.messages)"),
        ]
    }

    private var limits: [(String, String)] {
        let request = self.configuration.requestTimeout.milliseconds
        let connect = self.configuration.connectTimeout.milliseconds
        return [
            ("socket.timeout.ms", "\(request)"), ("request.timeout.ms", "\(request)"),
            ("socket.connection.setup.timeout.ms", "\(max(1000, connect))"),
            ("api.version.request.timeout.ms", "\(connect)"),
            ("socket.keepalive.enable", "true"), ("reconnect.backoff.max.ms", "2000"),
            ("topic.metadata.propagation.max.ms", "\(request)"),
            (
                "max.in.flight.requests.per.connection", "\(self.configuration.maxInFlight)"
            ),
            ("message.max.bytes", "\(self.configuration.maxMessageBytes)"),
            ("queue.buffering.max.messages", "\(self.configuration.maxQueuedHits)"),
            ("queue.buffering.max.kbytes", "\(self.configuration.maxQueuedBytes >> 10)"),
            ("statistics.interval.ms", "\(self.configuration.statisticsInterval.milliseconds)"),
        ]
    }

    private var security: [(String, String)] {
        let isSASL = self.configuration.mechanism != .none
        let channel = self.configuration.isTLS ? "ssl" : "plaintext"
        var settings = [("security.protocol", isSASL ? "sasl_" + channel : channel)]
        if self.configuration.isTLS {
            settings += [
                ("ssl.endpoint.identification.algorithm", "https"),
                ("ssl.ca.location", self.configuration.tlsRoots),
                ("ssl.certificate.location", self.configuration.tlsCertificate),
                ("ssl.key.location", self.configuration.tlsKey),
            ].filter { !$0.1.isEmpty }
        }
        if isSASL {
            settings += [
                ("sasl.mechanisms", self.configuration.mechanism.rawValue.uppercased()),
                ("sasl.username", self.configuration.user),
            ]
        }
        return settings
    }

    private func secrets() throws(ConfigurationError) -> [(String, String)] {
        var secrets: [(String, String)] = []
        for (setting, key, path) in [
            ("sasl.password", "kafka.sasl.password_file", self.configuration.passwordFile),
            (
                "ssl.key.password", "kafka.tls.key_password_file",
                self.configuration.tlsKeyPasswordFile
            ),
        ] where !path.isEmpty {
            let text: String
            do {
                text = try String(contentsOfFile: path, encoding: .utf8)
            } catch {
                throw ConfigurationError([
                    "\(key) is \"\(path)\", but cannot be read: it has to be a file of UTF-8 text "
                        + "with the password in one line"
                ])
            }
            let password = text.trimmingCharacters(in: .newlines)
            guard !password.isEmpty, !password.contains(where: \.isNewline) else {
                throw ConfigurationError([
                    "\(key) is \"\(path)\", but has to have the password in one line"
                ])
            }
            secrets.append((setting, password))
        }
        return secrets
    }
}

/// How much is sent to a partition together. Brokers limit it, and tell only that it was too much.
struct KafkaBatchSize: Equatable {
    /// As the library has it, if nobody has said anything else.
    static let mostMessages = 10_000

    private(set) var bytes: Int
    private(set) var messages = Self.mostMessages

    init(bytes: Int) { self.bytes = bytes }

    /// Whether each message is sent alone.
    var isSingle: Bool { self.messages == 1 }

    /// Halves a batch of so many messages.
    mutating func halve(_ count: Int) {
        self.messages = max(1, min(self.messages, count) / 2)
    }
}

extension Duration {
    /// The duration in whole milliseconds.
    var milliseconds: Int64 { Int64(self / .milliseconds(1)) }
}
#endif
