// Every key of the configuration, in one table: what reads them, checks them and documents them.

/// One key: its name, its default, and what it means.
package struct ConfigurationKey: Sendable {
    /// Dotted, as in YAML; in the environment `SIGHTLINE_` and upper case with underscores.
    package let name: String
    /// The value where nobody sets it.
    package let standard: Value
    /// What it is, with its unit.
    package let meaning: String

    /// A value with its type and, for a number, its range.
    package enum Value: Sendable {
        case text(String)
        case choice(String, of: [String])
        case number(Int, ClosedRange<Int>)
        case flag(Bool)
    }

    private init(_ name: String, _ standard: Value, _ meaning: String) {
        self.name = name
        self.standard = standard
        self.meaning = meaning
    }

    /// The variable that sets it in the environment.
    package var environmentVariable: String {
        "SIGHTLINE_" + self.name.uppercased().map { $0 == "." ? "_" : "\($0)" }.joined()
    }

    private static let bytes = 1...(1 << 40)

    /// All keys, in the order of the documentation.
    package static let all: [ConfigurationKey] = [
        .init("listen", .text("127.0.0.1:50051"), "address and port of the gRPC server"),
        .init(
            "data_dir", .text("./sightline-data"), "directory of the journal and the sinks' files"),
        .init(
            "sink", .choice("sqlite", of: ["sqlite", "jsonl", "stdout", "discard"]),
            "where hits go"),
        .init(
            "log.level",
            .choice(
                "info",
                of: ["trace", "debug", "info", "notice", "warning", "error", "critical"]),
            "the least severe log record that is written"),
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
            "streams that a connection may have open; more wait"),
        .init(
            "stream.max_requests", .number(64, 1...10_000),
            "requests of a stream that may be under way"),
        .init(
            "stream.max_bytes", .number(8 << 20, Self.bytes),
            "bytes of a stream's requests that may be under way"),
        .init(
            "journal.mode", .choice("disk", of: ["disk", "off"]),
            "an ack means: on this node's disk, or (off) that the sink has it"),
        .init("journal.max_bytes", .number(4 << 30, Self.bytes), "bytes that wait for a sink"),
        .init("journal.group_bytes", .number(4 << 20, Self.bytes), "bytes of one commit"),
        .init(
            "journal.cache_bytes", .number(32 << 20, Self.bytes),
            "bytes of recent batches kept in memory for the sinks"),
        .init(
            "journal.checkpoint_bytes", .number(64 << 20, Self.bytes),
            "bytes after which the log is moved into the file"),
        .init(
            "journal.retain_seconds", .number(0, 0...(30 * 86_400)),
            "seconds that a batch is kept after every sink has it"),
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
