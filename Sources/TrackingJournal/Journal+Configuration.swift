// How a journal behaves, with the defaults.

extension Journal {
    /// How a journal behaves. Sizes are bytes, durations seconds.
    package struct Configuration: Sendable {
        /// What an ack means. Default: on disk.
        package var mode = Mode.disk
        /// Payload that is kept at most; beyond it clients are told to retry. Default 4 GiB.
        package var maxBytes = 4 << 30
        /// A group's payload; the requests that reach it may go beyond it. A larger one is hardly
        /// cheaper by the byte, and keeps its first request waiting for longer. Default 384 KiB.
        package var maxGroupBytes = 384 << 10
        /// Recent batches kept in memory for the forwarders. Default 32 MiB.
        package var maxCachedBytes = 32 << 20
        /// Bytes of records after which the log goes on in another file; one record may go beyond
        /// it. Default 16 MiB.
        package var segmentBytes = 16 << 20
        /// Segments that are made before the first record comes, at most 4: a commit that makes a
        /// file longer waits for the file system. Default 2.
        package var preparedSegments = 2
        /// The program's name and version, for the headers of segments.
        package var program = "sightline"
        /// Milliseconds from a change to the checkpoint that holds it. Default 50.
        package var checkpointMilliseconds = 50
        /// How long a batch stays after every sink has it, unless it would fill more than half of
        /// `maxBytes`. Default 0.
        package var retainSeconds = 0
        /// Keys that the window of recent hits remembers. Default 2,000,000.
        package var windowCapacity = 2_000_000

        /// Every value at its default.
        package init() {}
    }

    /// What has to be true of a request before its client is told.
    package enum Mode: String, CaseIterable, Sendable {
        /// It is on this node's disk.
        case disk
        /// Every sink has it: for nodes without a disk. What waits is kept in memory, at most
        /// `maxCachedBytes` of it, and lost with the process, unacknowledged.
        case off
    }
}
