// Every key of the configuration, in one table: what reads them, checks them and documents them.
internal import Telemetry
internal import TrackingSinks

/// One key: its name, its default, and what it means.
package struct ConfigurationKey: Sendable {
    /// Dotted, as in YAML; in the environment `SIGHTLINE_` and upper case with underscores.
    package let name: String
    /// The value where nobody sets it.
    package let standard: Value
    /// What it is, for the documentation.
    package let meaning: String
    /// What a value counts or names, as in `bytes` or `file`; empty where the choices say it all.
    package let unit: String
    /// Whether the value itself is a secret: it is shown nowhere. A path of a secret file is none.
    package let isSecret: Bool
    /// Whether SIGHUP makes a running server take a new value.
    package let isReloadable: Bool

    /// A value with its type and, for a number, its range.
    package enum Value: Sendable {
        case text(String)
        case choice(String, of: [String])
        case number(Int, ClosedRange<Int>)
        case flag(Bool)
    }

    /// A key; without a unit it has the one that its name ends in.
    init(
        _ name: String, _ standard: Value, _ meaning: String, unit: String? = nil,
        isSecret: Bool = false, isReloadable: Bool = false
    ) {
        self.name = name
        self.standard = standard
        self.meaning = meaning
        self.unit = unit ?? standard.unit(ofKey: name)
        self.isSecret = isSecret
        self.isReloadable = isReloadable
    }

    private static let bytes = 1...(1 << 40)
    /// The highest rate of a quota, in events or bytes per second.
    static let maxQuota = 1 << 40
    /// The longest burst of a quota, in seconds.
    static let maxBurstSeconds = 3600

    /// All keys, in the order of the documentation.
    package static let all =
        Self.main + Self.nats + Self.auth + Self.connections + Self.edge + Self.admin
        + Self.traces

    private static let main: [ConfigurationKey] = [
        .init(
            "listen", .text("127.0.0.1:50051"), "address and port of the gRPC server",
            unit: "address"),
        .init(
            "allow_insecure", .flag(false),
            "whether listen may be open to the network without TLS or credentials"),
        .init(
            "tls.mode", .choice("off", of: ["off", "tls", "mtls"]),
            "who shows a certificate: nobody, the server, or each client too"),
        .init(
            "tls.certificate", .text(""),
            "the server's certificate, then what links it to its root", unit: "PEM file",
            isReloadable: true),
        .init(
            "tls.key", .text(""),
            "the key of that certificate; others may not read the file", unit: "PEM file",
            isReloadable: true),
        .init(
            "tls.client_roots", .text(""),
            "authorities whose client certificates are taken (mtls)", unit: "PEM file",
            isReloadable: true),
        .init(
            "tls.reload_seconds", .number(60, 1...86_400),
            "seconds after which the files are read again; broken ones change nothing",
            isReloadable: true),
        .init(
            "data_dir", .text("./sightline-data"), "directory of the journal and the sinks' files",
            unit: "directory"),
        .init(
            "sink", .choice(SinkKind.sqlite.rawValue, of: SinkKind.names), "where hits go"),
        .init(
            "log.level",
            .choice(
                "info",
                of: ["trace", "debug", "info", "notice", "warning", "error", "critical"]),
            "the least severe log record that is written", isReloadable: true),
        .init(
            "log.format", .choice("auto", of: LogFormat.allCases.map(\.rawValue)),
            "how log records look; auto is text on a terminal, JSON objects in lines elsewhere"),
        .init(
            "log.summary_seconds", .number(10, 0...86_400),
            "seconds between log records of what was counted, if anything was; 0 for none"),
        .init(
            "rules.default_consent", .choice("opted_in", of: ["opted_in", "unknown"]),
            "the consent of events that say nothing of it"),
        .init("rules.record_test_messages", .flag(false), "whether in-app test messages count"),
        .init(
            "limits.request_bytes", .number(512 << 10, 1...(900 << 10)), "bytes of a request"),
        .init("limits.request_events", .number(2000, 1...100_000), "events in a request"),
        .init("limits.event_bytes", .number(16 << 10, 1...(512 << 10)), "bytes of an event"),
        .init(
            "limits.streams_per_connection", .number(100, 1...10_000),
            "streams that a connection may have open; more wait", unit: "streams"),
        .init(
            "limits.metadata_bytes", .number(8 << 10, 1...(14 << 10)),
            "bytes of the names and values of a call's metadata"),
        .init(
            "limits.small_message_bytes", .number(16 << 10, 1024...(1 << 20)),
            "bytes of a message to a method that takes no events and no payload"),
        .init(
            "limits.message_seconds", .number(30, 1...3600),
            "seconds that a message may take, and all that is sent in a call but StreamEvents"),
        .init(
            "limits.bytes_in_flight", .number(256 << 20, (1 << 20)...(1 << 40)),
            "bytes of requests that may be under way in all streams; then reading stops",
            unit: "bytes"),
        .init(
            "limits.bytes_in_flight_soft_percent", .number(80, 1...100),
            "share of limits.bytes_in_flight from which on new calls are refused"),
        .init(
            "limits.bytes_waiting", .number(64 << 20, (1 << 20)...(1 << 40)),
            "bytes of messages and answers over 16 KiB that may wait to be read in all calls",
            unit: "bytes"),
        .init(
            "stream.max_requests", .number(64, 1...10_000),
            "requests of a stream that may be under way"),
        .init(
            "stream.max_bytes", .number(8 << 20, Self.bytes),
            "bytes of a stream's requests that may be under way"),
        .init(
            "stream.ack_seconds", .number(30, 1...3600),
            "seconds for which a client may leave its answers unread before its stream ends"),
        .init(
            "quotas.events_per_second", .number(0, 0...Self.maxQuota),
            "events that a tenant may send per second; 0 for no limit", unit: "events",
            isReloadable: true),
        .init(
            "quotas.bytes_per_second", .number(0, 0...Self.maxQuota),
            "bytes that a tenant may send per second; 0 for no limit", unit: "bytes",
            isReloadable: true),
        .init(
            "quotas.burst_seconds", .number(1, 1...Self.maxBurstSeconds),
            "seconds of its rates that a tenant may send at once", isReloadable: true),
        .init(
            "quotas.file", .text(""), "YAML file with the quotas of single tenants",
            isReloadable: true),
        .init(
            "quotas.max_tenants", .number(10_000, 1...1_000_000),
            "tenants whose use is remembered; those beyond it share one quota",
            isReloadable: true),
        .init(
            "quotas.stream_wait_seconds", .number(60, 1...3600),
            "longest wait by which a quota slows a stream; one that needs more ends",
            isReloadable: true),
        .init(
            "journal.mode", .choice("disk", of: ["disk", "off"]),
            "an ack means: on this node's disk, or (off) that the sink has it"),
        .init(
            "journal.max_bytes", .number(4 << 30, Self.bytes),
            "undelivered bytes; beyond them events are refused"),
        .init("journal.group_bytes", .number(384 << 10, Self.bytes), "bytes of one commit"),
        .init(
            "journal.cache_bytes", .number(32 << 20, Self.bytes),
            "bytes of recent batches kept in memory for the sinks"),
        .init(
            "journal.segment_bytes", .number(16 << 20, 1...(256 << 20)),
            "bytes after which the log goes on in another file; files are used again"),
        .init(
            "journal.checkpoint_milliseconds", .number(50, 1...60_000),
            "milliseconds between checkpoints; after a crash so much is delivered again at most"),
        .init(
            "journal.retain_seconds", .number(0, 0...(30 * 86_400)),
            "seconds that a batch is kept after every sink has it, in at most half of max_bytes"),
        .init(
            "journal.recent_hits", .number(2_000_000, 1...(1 << 28)),
            "facts that the duplicate window remembers, 36 bytes of memory each"),
        .init(
            "jsonl.file_bytes", .number(128 << 20, Self.bytes),
            "bytes after which the jsonl sink starts a new file"),
        .init(
            "dead_letters.max_rows", .number(100_000, 1...100_000_000),
            "refused hits that are kept; the oldest go first"),
        .init(
            "drain.seconds", .number(15, 1...20),
            "seconds that a stopping server waits for its clients"),
    ]
}
