package import ConfigurationKeys

extension Journal {
    /// The journal's settings. Sizes are bytes, durations seconds.
    package struct Configuration: Sendable {
        /// What an ack promises.
        package var mode = Mode.disk
        /// The maximum undelivered payload; beyond it clients have to retry.
        package var maxBytes = 4 << 30
        /// The payload at which a group is closed; its last request may exceed it. Larger groups
        /// save little per byte and delay their first request.
        package var maxGroupBytes = 384 << 10
        /// The maximum payload of the newest batches in memory, of those that a sink has yet to
        /// take.
        package var maxCachedBytes = 32 << 20
        /// The bytes of records in a segment; only a single larger record may exceed it.
        package var segmentBytes = 16 << 20
        /// Segments preallocated at startup, at most 4. A commit that extends a file waits for the
        /// file system's metadata.
        package var preparedSegments = 2
        /// The program's name and version, written into the headers of segments.
        package var program = "sightline"
        /// Milliseconds from a change to the checkpoint that saves it.
        package var checkpointMilliseconds = 50
        /// How long a batch is retained after every sink has it, if there is room.
        package var retainSeconds = 0
        /// The number of keys in the deduplication window.
        package var windowCapacity = 2_000_000
        /// How much the ledger keeps.
        package var ledger = LedgerConfiguration()

        /// Creates the default settings.
        package init() {}
    }

    /// When a request is acknowledged.
    package enum Mode: String, CaseIterable, Sendable {
        /// After it was synced to this node's disk.
        case disk
        /// After every sink has taken it: for nodes without a disk. Undelivered requests are in
        /// memory only, at most `maxCachedBytes`; a crash loses them, unacknowledged.
        case off
    }
}

extension Journal.Configuration: KeyedConfiguration {
    /// The keys `journal.*`.
    package static let keys: [Key] = [
        .choice(
            "journal.mode", \.mode,
            "an ack means: on this node's disk, or (off) that the sink has it"),
        .number(
            "journal.max_bytes", \.maxBytes, 1...(1 << 40),
            "undelivered bytes; beyond them events are refused"),
        .number("journal.group_bytes", \.maxGroupBytes, 1...(1 << 30), "bytes of one commit"),
        .number(
            "journal.cache_bytes", \.maxCachedBytes, 1...(1 << 40),
            "bytes of the newest batches kept in memory until every sink has them"),
        .number(
            "journal.segment_bytes", \.segmentBytes, 1...(256 << 20),
            "bytes after which the log goes on in another file; files are used again"),
        .number(
            "journal.checkpoint_milliseconds", \.checkpointMilliseconds, 1...60_000,
            "milliseconds between checkpoints; after a crash so much is delivered again at most"),
        .number(
            "journal.retain_seconds", \.retainSeconds, 0...(30 * 86_400),
            "seconds that a batch is kept after every sink has it, in at most half of max_bytes"),
        .number(
            "journal.recent_hits", \.windowCapacity, 1...(1 << 28),
            "facts that the duplicate window remembers, 40 to 72 bytes of memory each"),
    ]
}
