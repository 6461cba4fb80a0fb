/// Where and how a client keeps events on disk until they are settled, so that even the end of its
/// process loses none, and sends none again whose verdict was known. The libraries for Go, Java and
/// Python use the same files.
public struct SpoolConfiguration: Sendable, Equatable {
    /// A directory for this client alone; created if it does not exist.
    public var directory: String
    /// The maximum bytes of all files, at least 1. Default 256 MiB. Beyond them `send` waits.
    public var maxBytes: Int
    /// The size in bytes at which the next file is begun, at least 1. Default 4 MiB, and at most a
    /// quarter of `maxBytes`. A file is deleted when its last event is settled.
    public var segmentBytes: Int
    /// Whether `send` returns only after its event is synced. Default false: then a power cut may
    /// lose the last milliseconds. A crash of the process loses nothing in either case.
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
