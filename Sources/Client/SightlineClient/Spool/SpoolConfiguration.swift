/// Where and how a client keeps events on disk until they are settled, so that not even the end of
/// its process loses one. The libraries for Go, Java and Python have the same files.
public struct SpoolConfiguration: Sendable, Equatable {
    /// A directory for this client alone; it is made where it does not exist.
    public var directory: String
    /// The maximum bytes of all files, at least 1. Default 256 MiB. Beyond them `send` waits.
    public var maxBytes: Int
    /// The bytes at which a file is followed by another, at least 1. Default 4 MiB, and at most a
    /// quarter of `maxBytes`. A file goes with its last event.
    public var segmentBytes: Int
    /// Whether `send` returns only after its event is synced. Default false: then a power cut may
    /// take the last milliseconds. A crash of the process takes nothing in either case.
    public var syncsSends: Bool

    /// Creates a configuration.
    public init(
        directory: String, maxBytes: Int = 256 << 20, segmentBytes: Int = 4 << 20,
        syncsSends: Bool = false
    ) {
        self.directory = directory
        self.maxBytes = maxBytes
        self.segmentBytes = segmentBytes
        self.syncsSends = syncsSends
    }
}
