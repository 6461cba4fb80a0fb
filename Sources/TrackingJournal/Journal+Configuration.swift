extension Journal {
    /// The journal's settings. Sizes are bytes, durations seconds.
    package struct Configuration: Sendable {
        /// What an ack promises. Default: on disk.
        package var mode = Mode.disk
        /// The maximum undelivered payload; beyond it clients are told to retry. Default 4 GiB.
        package var maxBytes = 4 << 30
        /// The payload at which a group is closed; its last request may exceed it. Larger groups
        /// save little per byte and delay their first request. Default 384 KiB.
        package var maxGroupBytes = 384 << 10
        /// The maximum payload of recent batches in memory, for the forwarders. Default 32 MiB.
        package var maxCachedBytes = 32 << 20
        /// The bytes of records in a segment; only a single larger record may exceed it. Default 16
        /// MiB.
        package var segmentBytes = 16 << 20
        /// Segments preallocated at startup, at most 4. A commit that extends a file waits for the
        /// file system's metadata. Default 2.
        package var preparedSegments = 2
        /// The program's name and version, written into the headers of segments.
        package var program = "sightline"
        /// Milliseconds from a change to the checkpoint that saves it. Default 50.
        package var checkpointMilliseconds = 50
        /// How long a batch is retained after every sink has it. Ends early where retained batches
        /// would fill more than half of `maxBytes`. Default 0.
        package var retainSeconds = 0
        /// The number of keys in the deduplication window. Default 2,000,000.
        package var windowCapacity = 2_000_000

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
