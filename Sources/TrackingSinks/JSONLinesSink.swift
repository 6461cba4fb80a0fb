internal import Foundation
internal import Glibc
package import TrackingCore

/// Appends every hit as a line of JSON to `hits-000001.jsonl` and so on, with rotation. A batch is
/// synced before it counts as delivered. After a crash its lines may occur twice; the hit id
/// identifies them.
package actor JSONLinesSink: Sink {
    /// The sink's name, "jsonl".
    package nonisolated let name = "jsonl"
    /// Each delivery is one fdatasync. Its lines are in memory until then, several times as many
    /// bytes as the payload.
    package nonisolated let maxBatch = BatchLimit(hits: 20_000, bytes: 4 << 20)
    /// Runs the actor on a queue of its own, because writes block.
    private let executor = SinkExecutor("jsonl")
    /// The sink's own queue.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        self.executor.asUnownedSerialExecutor()
    }
    private let directory: String
    private let maxFileBytes: Int
    private var number: Int
    private var descriptor: CInt
    private var size: Int
    private var lines: JSONLines

    /// Opens the newest file in the directory, or creates the first.
    ///
    /// - Parameters:
    ///   - directory: created if missing.
    ///   - maxFileBytes: a new file is started once this size is reached. Default 128 MiB.
    /// - Throws: the file system's error; `BinaryDecodingError` if the committed descriptor set is
    ///   damaged.
    package init(directory: String, maxFileBytes: Int = 128 << 20) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        // Also for an existing directory, whose creator may have ended before this.
        try Self.sync(directory: directory + "/..")
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        let number = names.compactMap(Self.number(of:)).max() ?? 1
        let path = Self.path(directory, number)
        try Self.dropUnfinishedLine(of: path)
        self.directory = directory
        self.maxFileBytes = maxFileBytes
        self.number = number
        self.lines = try JSONLines()
        (self.descriptor, self.size) = try Self.open(path)
    }

    deinit { close(self.descriptor) }

    /// Appends the batch's lines and syncs them.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        do {
            if self.size >= self.maxFileBytes { try self.rotate() }
            let rejected = try self.lines.encode(hits)
            try self.append(self.lines.bytes)
            return SinkAnswer(rejected: rejected)
        } catch {
            return SinkAnswer(failure: error)
        }
    }

    /// Appends all lines or none: a partial write is truncated.
    private func append(_ lines: Bytes) throws {
        do {
            try FileWriter.write(lines, to: self.descriptor)
            guard fdatasync(self.descriptor) == 0 else { throw WriteError(number: errno) }
            self.size += lines.count
        } catch {
            _ = ftruncate(self.descriptor, self.size)
            throw error
        }
    }

    private func rotate() throws {
        let (descriptor, size) = try Self.open(Self.path(self.directory, self.number + 1))
        close(self.descriptor)
        (self.descriptor, self.size) = (descriptor, size)
        self.number += 1
    }

    private static func open(_ path: String) throws(WriteError) -> (CInt, Int) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw WriteError(number: errno) }
        do {
            try Self.sync(directory: URL(filePath: path).deletingLastPathComponent().path)
        } catch {
            close(descriptor)
            throw error
        }
        return (descriptor, Int(lseek(descriptor, 0, SEEK_END)))
    }

    /// Syncs a directory's entries: otherwise a synced file may be missing after a power cut.
    private static func sync(directory: String) throws(WriteError) {
        let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw WriteError(number: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw WriteError(number: errno) }
    }

    private static func path(_ directory: String, _ number: Int) -> String {
        let digits = String(number)
        let padding = String(repeating: "0", count: max(0, 6 - digits.count))
        return "\(directory)/hits-\(padding)\(digits).jsonl"
    }

    private static func number(of name: String) -> Int? {
        guard name.hasPrefix("hits-"), name.hasSuffix(".jsonl") else { return nil }
        return Int(name.dropFirst(5).dropLast(6))
    }

    /// Removes an incomplete last line. It was not delivered, so the batch comes again.
    private static func dropUnfinishedLine(of path: String) throws {
        guard let file = FileHandle(forUpdatingAtPath: path) else { return }
        defer { try? file.close() }  // Nothing was written through it.
        var end = try file.seekToEnd()
        while end > 0 {
            let start = end > 65536 ? end - 65536 : 0
            try file.seek(toOffset: start)
            let block = try file.read(upToCount: Int(end - start)) ?? Data()
            if let newline = block.lastIndex(of: UInt8(ascii: "\n")) {
                try file.truncate(atOffset: start + UInt64(newline - block.startIndex) + 1)
                return
            }
            end = start
        }
        try file.truncate(atOffset: 0)
    }
}
