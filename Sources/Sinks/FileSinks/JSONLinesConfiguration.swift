package import ConfigurationKeys
internal import SinkKit

/// How large the jsonl sink's files get, and how many of them it keeps.
package struct JSONLinesConfiguration: SinkConfiguration {
    /// How the files are compressed.
    package enum Compression: String, CaseIterable, Sendable {
        /// Not at all: lines of text.
        case none
        /// Zstandard (RFC 8878): each batch is a frame.
        case zstd
    }

    /// The size from which on a file is full, and the next one is begun.
    package var fileBytes = 128 << 20
    /// The maximum number of full files; 0 for no limit.
    package var retainFiles = 0
    /// The maximum size of all full files; 0 for no limit.
    package var maxBytes = 64 << 30
    /// How new files are compressed.
    package var compression = Compression.none
    /// The level of zstd. Higher ones save little: the lines of a batch repeat each other.
    package var zstdLevel = 1

    /// Creates the default settings.
    package init() {}

    /// The full files, and the one that grows.
    package var maxDiskBytes: Int? {
        self.maxBytes > 0 ? self.maxBytes + self.fileBytes : nil
    }

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
        .choice(
            "jsonl.compression", \.compression,
            "compression of the files; every batch is a zstd frame of its own"),
        .number(
            "jsonl.zstd_level", \.zstdLevel, 1...19,
            "level of zstd: 1 takes 1 MiB of memory, 19 takes 90 MiB and 500 times the CPU"),
    ]
}
