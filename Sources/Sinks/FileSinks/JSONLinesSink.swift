package import Logging
internal import Pacing
package import SinkKit
package import TrackingRules
internal import WireFormat

/// Appends every hit as a line of JSON to `hits-000001.jsonl` and so on; or to
/// `hits-000001.jsonl.zst`, where each batch is a frame of zstd. A full file is followed by the
/// next, and the oldest full ones beyond the limits are deleted. A batch is synced before it counts
/// as delivered. After a crash its lines may occur twice; the hit id identifies them.
package actor JSONLinesSink: ErasableSink {
    /// The sink's name, "jsonl".
    package nonisolated let name = "jsonl"
    /// Each delivery is one fdatasync. Its lines are in memory until then, several times as many
    /// bytes as the payload.
    package nonisolated let maxBatch = BatchLimit(hits: 20_000, bytes: 4 << 20)
    /// Runs the actor on a queue of its own, because writes block.
    private let executor = QueueExecutor(label: "sightline.sink.jsonl")
    /// The sink's own queue.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        self.executor.asUnownedSerialExecutor()
    }
    private let directory: JSONLinesDirectory
    private let configuration: JSONLinesConfiguration
    private let logger: Logger?
    private var file: JSONLinesFile
    private var lines: JSONLines
    /// Nil for plain lines.
    private let zstd: ZstdWriter?

    /// Opens the newest file in the directory, or creates the next, for the first time or because
    /// of another compression.
    ///
    /// - Parameters:
    ///   - directory: created if missing.
    ///   - logger: tells of files that are deleted or damaged.
    /// - Throws: the file system's error; `ZstdError` if there is no memory; `BinaryDecodingError`
    ///   if the committed descriptor set is damaged.
    package init(
        directory: String, _ configuration: JSONLinesConfiguration = JSONLinesConfiguration(),
        logger: Logger? = nil
    ) throws {
        let directory = try JSONLinesDirectory(creating: directory)
        self.directory = directory
        self.configuration = configuration
        self.logger = logger
        self.lines = try JSONLines()
        self.zstd =
            configuration.compression == .zstd
            ? try ZstdWriter(level: configuration.zstdLevel) : nil
        let number = try Self.number(in: directory, configuration, logger)
        self.file = try JSONLinesFile(
            JSONLinesDirectory.File(number: number, compression: configuration.compression),
            in: directory)
    }

    /// The number of the file to begin with.
    private static func number(
        in directory: JSONLinesDirectory, _ configuration: JSONLinesConfiguration, _ logger: Logger?
    ) throws -> Int {
        let files = try directory.files()
        guard let newest = files.last else { return 1 }
        // Only one of two files with a number is the sink's, and nothing tells which.
        guard files.count(where: { $0.number == newest.number }) == 1 else {
            return newest.number + 1
        }
        if let reason = try JSONLinesFile.mend(newest, in: directory) {
            logger?.warning(
                "a file of the jsonl sink is damaged: it stays as it is, and the next is begun",
                metadata: ["file": "\(directory.path(of: newest))", "reason": "\(reason)"])
            return newest.number + 1
        }
        return newest.compression == configuration.compression ? newest.number : newest.number + 1
    }

    /// Appends the batch's lines and syncs them.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        do {
            if self.file.size >= self.configuration.fileBytes { try self.rotate() }
            let rejected = try self.lines.encode(hits)
            try self.append(self.lines.bytes)
            return SinkAnswer(rejected: rejected)
        } catch {
            return SinkAnswer(failure: error)
        }
    }

    /// Overwrites the subject's id in files of plain lines. Compressed ones stay as they are.
    package func erase(_ subject: Subject) async -> ErasurePiece {
        await JSONLinesEraser(directory: self.directory.path).erase(subject)
    }

    private func append(_ lines: Bytes) throws {
        let zstd = self.zstd
        try self.file.append { descriptor in
            if let zstd { return try zstd.write(lines, to: descriptor) }
            try FileWriter.write(lines, to: descriptor)
            return lines.count
        }
    }

    private func rotate() throws {
        let next = JSONLinesDirectory.File(
            number: self.file.number + 1, compression: self.configuration.compression)
        self.file = try JSONLinesFile(next, in: self.directory)
        self.removeExcess()
    }

    /// Deletes full files beyond the limits. A failure is logged and holds nothing up; it is tried
    /// again when the next file is full.
    private func removeExcess() {
        do {
            let excess = try self.directory.excess(before: self.file.number, self.configuration)
            for (file, bytes) in excess { self.remove(file, bytes) }
        } catch {
            self.logger?.warning(
                "cannot list the files of the jsonl sink, so none is deleted",
                metadata: ["directory": "\(self.directory.path)", "reason": "\(error)"])
        }
    }

    private func remove(_ file: JSONLinesDirectory.File, _ bytes: Int) {
        let path = self.directory.path(of: file)
        do throws(WriteError) {
            try self.directory.remove(file)
            self.logger?.notice(
                "a file beyond jsonl.retain_files or jsonl.max_bytes is deleted",
                metadata: ["file": "\(path)", "bytes": .stringConvertible(bytes)])
        } catch {
            self.logger?.warning(
                "a file beyond jsonl.retain_files or jsonl.max_bytes stays",
                metadata: ["file": "\(path)", "reason": "\(error)"])
        }
    }
}
