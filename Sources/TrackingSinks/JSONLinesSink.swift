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
    private var file: JSONLinesFile
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
        try JSONLinesFile.dropUnfinishedLine(of: directory.path(of: number))
        self.directory = directory
        self.configuration = configuration
        self.logger = logger
        self.lines = try JSONLines()
        self.file = try JSONLinesFile(number, in: directory)
    }

    /// Appends the batch's lines and syncs them.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        do {
            if self.file.size >= self.configuration.fileBytes { try self.rotate() }
            let rejected = try self.lines.encode(hits)
            try self.file.append(self.lines.bytes)
            return SinkAnswer(rejected: rejected)
        } catch {
            return SinkAnswer(failure: error)
        }
    }

    private func rotate() throws {
        self.file = try JSONLinesFile(self.file.number + 1, in: self.directory)
        self.removeExcess()
    }

    /// Deletes full files beyond the limits. A failure is logged and holds nothing up; it is tried
    /// again when the next file is full.
    private func removeExcess() {
        do {
            let excess = try self.directory.excess(before: self.file.number, self.configuration)
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
}
