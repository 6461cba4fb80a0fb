// Every key of the configuration, in one table: what reads them, checks them and documents them.
internal import Credentials
internal import HTTP2Edge
internal import TrackingCore
internal import TrackingJournal

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

    /// Puts a text that the key takes into a configuration. It does nothing for a key whose value
    /// becomes several, or depends on others: `ServerConfiguration.init` reads those.
    let set: @Sendable (String, inout ServerConfiguration) -> Void

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
        isSecret: Bool = false, isReloadable: Bool = false,
        set: @escaping @Sendable (String, inout ServerConfiguration) -> Void = { _, _ in }
    ) {
        self.name = name
        self.standard = standard
        self.meaning = meaning
        self.unit = unit ?? standard.unit(ofKey: name)
        self.isSecret = isSecret
        self.isReloadable = isReloadable
        self.set = set
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
        .flag(
            "allow_insecure", \.allowInsecure,
            "whether listen may be open to the network without TLS or credentials"),
        .choice(
            "tls.mode", \.tls.mode,
            "who shows a certificate: nobody, the server, or each client too"),
        .text(
            "tls.certificate", \.tls.certificatePath,
            "the server's certificate, then what links it to its root", unit: "PEM file",
            isReloadable: true),
        .text(
            "tls.key", \.tls.keyPath,
            "the key of that certificate; others may not read the file", unit: "PEM file",
            isReloadable: true),
        .text(
            "tls.client_roots", \.tls.clientRootsPath,
            "authorities whose client certificates are taken (mtls)", unit: "PEM file",
            isReloadable: true),
        .duration(
            "tls.reload_seconds", \.tls.reloadInterval, 1...86_400,
            "seconds after which the files are read again; broken ones change nothing",
            isReloadable: true),
        .text(
            "data_dir", \.dataDirectory, "directory of the journal and the sinks' files",
            unit: "directory"),
        .choice("sink", \.sink, "where hits go"),
        .choice(
            "log.level", \.logLevel, "the least severe log record that is written",
            isReloadable: true),
        .choice(
            "log.format", \.logFormat,
            "how log records look; auto is text on a terminal, JSON objects in lines elsewhere"),
        .duration(
            "log.summary_seconds", \.logSummaryInterval, 0...86_400,
            "seconds between log records of what was counted, if anything was; 0 for none"),
        .init(
            "rules.default_consent", .choice("opted_in", of: ["opted_in", "unknown"]),
            "the consent of events that say nothing of it"),
        .flag(
            "rules.record_test_messages", \.policy.recordTestMessages,
            "whether in-app test messages count"),
        .number(
            "limits.request_bytes", \.limits.requestBytes, 1...(900 << 10), "bytes of a request"),
        .number(
            "limits.request_events", \.limits.requestEvents, 1...100_000, "events in a request"),
        .number("limits.event_bytes", \.limits.eventBytes, 1...(512 << 10), "bytes of an event"),
        .number(
            "limits.streams_per_connection", \.edge.streamsPerConnection, 1...10_000,
            "streams that a connection may have open; more wait", unit: "streams"),
        .number(
            "limits.metadata_bytes", \.edge.metadataBytes, 1...(14 << 10),
            "bytes of the names and values of a call's metadata"),
        .number(
            "limits.small_message_bytes", \.edge.smallMessageBytes, 1024...(1 << 20),
            "bytes of a message to a method that takes no events and no payload"),
        .duration(
            "limits.message_seconds", \.edge.messageTimeout, 1...3600,
            "seconds that a message may take, and all that is sent in a call but StreamEvents"),
        .number(
            "limits.bytes_in_flight", \.bytesInFlight, (1 << 20)...(1 << 40),
            "bytes of requests that may be under way in all streams; then reading stops",
            unit: "bytes"),
        .number(
            "limits.bytes_in_flight_soft_percent", \.bytesInFlightSoftPercent, 1...100,
            "share of limits.bytes_in_flight from which on new calls are refused"),
        .number(
            "limits.bytes_waiting", \.edge.bytesWaiting, (1 << 20)...(1 << 40),
            "bytes of messages and answers over 16 KiB that may wait to be read in all calls",
            unit: "bytes"),
        .number(
            "stream.max_requests", \.stream.maxRequests, 1...10_000,
            "requests of a stream that may be under way"),
        .number(
            "stream.max_bytes", \.stream.maxBytes, Self.bytes,
            "bytes of a stream's requests that may be under way"),
        .duration(
            "stream.ack_seconds", \.edge.answerTimeout, 1...3600,
            "seconds for which a client may leave its answers unread before its stream ends"),
        .number(
            "quotas.events_per_second", \.quotas.standard.eventsPerSecond, 0...Self.maxQuota,
            "events that a tenant may send per second; 0 for no limit", unit: "events",
            isReloadable: true),
        .number(
            "quotas.bytes_per_second", \.quotas.standard.bytesPerSecond, 0...Self.maxQuota,
            "bytes that a tenant may send per second; 0 for no limit", unit: "bytes",
            isReloadable: true),
        .number(
            "quotas.burst_seconds", \.quotas.standard.burstSeconds, 1...Self.maxBurstSeconds,
            "seconds of its rates that a tenant may send at once", isReloadable: true),
        .text(
            "quotas.file", \.quotas.file,
            "YAML file with the quotas of single tenants, at most 4 MiB",
            isReloadable: true),
        .number(
            "quotas.max_tenants", \.quotas.maxTenants, 1...1_000_000,
            "tenants whose use is remembered; those beyond it share one quota",
            isReloadable: true),
        .duration(
            "quotas.stream_wait_seconds", \.quotas.maxStreamWait, 1...3600,
            "longest wait by which a quota slows a stream; one that needs more ends",
            isReloadable: true),
        .choice(
            "journal.mode", \.journal.mode,
            "an ack means: on this node's disk, or (off) that the sink has it"),
        .number(
            "journal.max_bytes", \.journal.maxBytes, Self.bytes,
            "undelivered bytes; beyond them events are refused"),
        .number("journal.group_bytes", \.journal.maxGroupBytes, Self.bytes, "bytes of one commit"),
        .number(
            "journal.cache_bytes", \.journal.maxCachedBytes, Self.bytes,
            "bytes of recent batches kept in memory for the sinks"),
        .number(
            "journal.segment_bytes", \.journal.segmentBytes, 1...(256 << 20),
            "bytes after which the log goes on in another file; files are used again"),
        .number(
            "journal.checkpoint_milliseconds", \.journal.checkpointMilliseconds, 1...60_000,
            "milliseconds between checkpoints; after a crash so much is delivered again at most"),
        .number(
            "journal.retain_seconds", \.journal.retainSeconds, 0...(30 * 86_400),
            "seconds that a batch is kept after every sink has it, in at most half of max_bytes"),
        .number(
            "journal.recent_hits", \.journal.windowCapacity, 1...(1 << 28),
            "facts that the duplicate window remembers, 36 bytes of memory each"),
        .number(
            "jsonl.file_bytes", \.jsonLinesFileBytes, Self.bytes,
            "bytes after which the jsonl sink starts a new file"),
        .number(
            "dead_letters.max_rows", \.maxDeadLetters, 1...100_000_000,
            "refused hits that are kept; the oldest go first"),
        .duration(
            "drain.seconds", \.drainTimeout, 1...20,
            "seconds that a stopping server waits for its clients"),
    ]
}
