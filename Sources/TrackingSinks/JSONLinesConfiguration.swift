package import ConfigurationKeys

/// How large the jsonl sink's files get, and how many of them it keeps.
package struct JSONLinesConfiguration: KeyedConfiguration {
    /// The size from which on a file is full, and the next one is begun.
    package var fileBytes = 128 << 20
    /// The maximum number of full files; 0 for no limit.
    package var retainFiles = 0
    /// The maximum size of all full files; 0 for no limit.
    package var maxBytes = 64 << 30

    /// Creates the default settings.
    package init() {}

    /// The keys `jsonl.*`.
    package static let keys: [Key] = [
        .number(
            "jsonl.file_bytes", \.fileBytes, 1...(1 << 40),
            "bytes after which the jsonl sink starts a new file"),
        .number(
            "jsonl.retain_files", \.retainFiles, 0...1_000_000,
            "maximum number of full files; the oldest are deleted; 0 for no limit", unit: "files"),
        .number(
            "jsonl.max_bytes", \.maxBytes, 0...(1 << 50),
            "maximum size of all full files; the oldest are deleted, never the newest; 0 for no "
                + "limit"),
    ]
}
