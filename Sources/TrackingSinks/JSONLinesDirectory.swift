internal import Foundation
internal import Glibc

/// The directory of the jsonl sink: `hits-000001.jsonl` and so on. Lines are appended to the newest
/// file; the others are full.
struct JSONLinesDirectory {
    let path: String

    /// A file, by its number.
    struct File {
        let number: Int
        let bytes: Int
    }

    /// Creates the directory if it is missing.
    init(creating path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        self.path = path
        // Also for an existing directory, whose creator may have ended before this.
        try Self.sync(path + "/..")
    }

    /// The path of a file.
    func path(of number: Int) -> String {
        let digits = String(number)
        let padding = String(repeating: "0", count: max(0, 6 - digits.count))
        return "\(self.path)/hits-\(padding)\(digits).jsonl"
    }

    /// The numbers of all files, in order.
    func numbers() throws -> [Int] {
        try FileManager.default.contentsOfDirectory(atPath: self.path)
            .compactMap(Self.number(of:)).sorted()
    }

    /// Syncs the entries: otherwise a synced file may be missing after a power cut.
    func sync() throws(WriteError) { try Self.sync(self.path) }

    /// Deletes the oldest full files beyond a limit, but never the newest of them. What another
    /// program has moved away no longer counts.
    ///
    /// - Parameter current: the number of the file that is not full.
    /// - Returns: the files that were deleted.
    func removeOldest(
        before current: Int, _ configuration: JSONLinesConfiguration
    ) throws -> [File] {
        guard configuration.retainFiles > 0 || configuration.maxBytes > 0 else { return [] }
        var full = try self.numbers().filter { $0 < current }.compactMap(self.file)[...]
        var bytes = full.reduce(0) { $0 + $1.bytes }
        var removed: [File] = []
        while full.count > 1, let oldest = full.first,
            configuration.isExceeded(files: full.count, bytes: bytes)
        {
            try FileManager.default.removeItem(atPath: self.path(of: oldest.number))
            removed.append(oldest)
            bytes -= oldest.bytes
            full.removeFirst()
        }
        return removed
    }

    /// Nil if the file is gone.
    private func file(_ number: Int) -> File? {
        var status = stat()
        guard stat(self.path(of: number), &status) == 0 else { return nil }
        return File(number: number, bytes: Int(status.st_size))
    }

    private static func number(of name: String) -> Int? {
        guard name.hasPrefix("hits-"), name.hasSuffix(".jsonl") else { return nil }
        return Int(name.dropFirst(5).dropLast(6))
    }

    private static func sync(_ path: String) throws(WriteError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw WriteError(number: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw WriteError(number: errno) }
    }
}

extension JSONLinesConfiguration {
    /// Whether full files are beyond a limit.
    fileprivate func isExceeded(files: Int, bytes: Int) -> Bool {
        self.retainFiles > 0 && files > self.retainFiles
            || self.maxBytes > 0 && bytes > self.maxBytes
    }
}
