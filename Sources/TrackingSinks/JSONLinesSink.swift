// The sink for files: hits as lines of JSON, in files that are rotated.
internal import Foundation
internal import Glibc

/// Appends every hit as a line of JSON to `hits-000001.jsonl` and so on in a directory. A batch is
/// synced before it counts as delivered; after a crash its lines may come twice (the hit id tells).
package actor JSONLinesSink: Sink {
    /// "jsonl".
    package nonisolated let name = "jsonl"
    /// Writing blocks.
    private let executor = SinkExecutor("jsonl")
    /// A queue of its own.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        self.executor.asUnownedSerialExecutor()
    }
    private let directory: String
    private let maxFileBytes: Int
    private var number: Int
    private var descriptor: CInt
    private var size: Int

    /// Opens the newest file of the directory, or the first.
    ///
    /// - Parameters:
    ///   - directory: created where it is missing.
    ///   - maxFileBytes: a file that has reached this is followed by a new one. Default 128 MiB.
    /// - Throws: what the file system says.
    package init(directory: String, maxFileBytes: Int = 128 << 20) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        // Also of one that was there: who made it may have ended before this.
        try Self.sync(directory: directory + "/..")
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        let number = names.compactMap(Self.number(of:)).max() ?? 1
        let path = Self.path(directory, number)
        try Self.dropUnfinishedLine(of: path)
        self.directory = directory
        self.maxFileBytes = maxFileBytes
        self.number = number
        (self.descriptor, self.size) = try Self.open(path)
    }

    deinit { close(self.descriptor) }

    /// Appends and syncs the batch's lines.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        do {
            if self.size >= self.maxFileBytes { try self.rotate() }
            let (lines, rejected) = try JSONLines.encode(hits)
            try self.append(lines)
            return SinkAnswer(rejected: rejected)
        } catch {
            return SinkAnswer(failure: error)
        }
    }

    /// Appends all or nothing: a part that was written is cut off again.
    private func append(_ lines: [UInt8]) throws {
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

    /// Makes the names in a directory durable: after a crash of the system a file that was synced
    /// may be without one.
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

    /// A crash may have left half a line: it was never delivered, so it comes again whole.
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
