internal import Foundation
internal import Glibc
package import Logging
package import TrackingCore

/// Appends every hit as a line of JSON to `hits-000001.jsonl` and so on. A full file is followed by
/// the next, and the oldest full ones beyond the limits are deleted. A batch is synced before it
/// counts as delivered. After a crash its lines may occur twice; the hit id identifies them.
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
    private let directory: JSONLinesDirectory
    private let configuration: JSONLinesConfiguration
    private let logger: Logger?
    private var number: Int
    private var descriptor: CInt
    private var size: Int
    private var lines: JSONLines

    /// Opens the newest file in the directory, or creates the first.
    ///
    /// - Parameters:
    ///   - directory: created if missing.
    ///   - logger: tells of files that are deleted.
    /// - Throws: the file system's error; `BinaryDecodingError` if the committed descriptor set is
    ///   damaged.
    package init(
        directory: String, _ configuration: JSONLinesConfiguration = JSONLinesConfiguration(),
        logger: Logger? = nil
    ) throws {
        let directory = try JSONLinesDirectory(creating: directory)
        let number = try directory.numbers().last ?? 1
        try Self.dropUnfinishedLine(of: directory.path(of: number))
        self.directory = directory
        self.configuration = configuration
        self.logger = logger
        self.number = number
        self.lines = try JSONLines()
        (self.descriptor, self.size) = try Self.open(number, in: directory)
    }

    deinit { close(self.descriptor) }

    /// Appends the batch's lines and syncs them.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        do {
            if self.size >= self.configuration.fileBytes { try self.rotate() }
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
        let (descriptor, size) = try Self.open(self.number + 1, in: self.directory)
        close(self.descriptor)
        (self.descriptor, self.size) = (descriptor, size)
        self.number += 1
        self.removeExcess()
    }

    /// Deletes full files beyond the limits. A failure is logged and holds nothing up; it is tried
    /// again when the next file is full.
    private func removeExcess() {
        do {
            let excess = try self.directory.excess(before: self.number, self.configuration)
            for file in excess { self.remove(file) }
        } catch {
            self.logger?.warning(
                "cannot list the files of the jsonl sink, so none is deleted",
                metadata: ["directory": "\(self.directory.path)", "reason": "\(error)"])
        }
    }

    private func remove(_ file: JSONLinesDirectory.File) {
        let path = self.directory.path(of: file.number)
        do throws(WriteError) {
            try self.directory.remove(file)
            self.logger?.notice(
                "a file beyond jsonl.retain_files or jsonl.max_bytes is deleted",
                metadata: ["file": "\(path)", "bytes": "\(file.bytes)"])
        } catch {
            self.logger?.warning(
                "a file beyond jsonl.retain_files or jsonl.max_bytes stays",
                metadata: ["file": "\(path)", "reason": "\(error)"])
        }
    }

    private static func open(
        _ number: Int, in directory: JSONLinesDirectory
    ) throws(WriteError) -> (CInt, Int) {
        let descriptor = Glibc.open(
            directory.path(of: number), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw WriteError(number: errno) }
        do {
            try directory.sync()
        } catch {
            close(descriptor)
            throw error
        }
        return (descriptor, Int(lseek(descriptor, 0, SEEK_END)))
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
