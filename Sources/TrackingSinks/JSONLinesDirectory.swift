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
    func path(of number: Int) -> String { "\(self.path)/\(Self.name(of: number))" }

    /// The numbers of all files, in order.
    func numbers() throws -> [Int] {
        try FileManager.default.contentsOfDirectory(atPath: self.path)
            .compactMap(Self.number(of:)).sorted()
    }

    /// Syncs the entries: otherwise a synced file may be missing after a power cut.
    func sync() throws(WriteError) { try Self.sync(self.path) }

    /// The oldest full files beyond a limit, but never the newest full one. The directory is read
    /// each time, because another program may have moved files away.
    ///
    /// - Parameter current: the number of the file that is not full.
    func excess(
        before current: Int, _ configuration: JSONLinesConfiguration
    ) throws -> ArraySlice<File> {
        guard configuration.retainFiles > 0 || configuration.maxBytes > 0 else { return [] }
        let full = try self.numbers().filter { $0 < current }.compactMap(self.file)
        let maxFiles = configuration.retainFiles > 0 ? configuration.retainFiles : .max
        var bytesLeft = configuration.maxBytes > 0 ? configuration.maxBytes : .max
        var kept = 0
        for file in full.reversed() {
            guard kept == 0 || kept < maxFiles && file.bytes <= bytesLeft else { break }
            kept += 1
            bytesLeft -= min(file.bytes, bytesLeft)
        }
        return full.dropLast(kept)
    }

    /// Deletes a file; a directory of that name stays.
    func remove(_ file: File) throws(WriteError) {
        guard unlink(self.path(of: file.number)) == 0 else {
            throw WriteError(number: errno, action: "delete")
        }
    }

    /// Nil if the file is gone.
    private func file(_ number: Int) -> File? {
        var status = stat()
        guard stat(self.path(of: number), &status) == 0 else { return nil }
        return File(number: number, bytes: Int(status.st_size))
    }

    private static func name(of number: Int) -> String {
        let digits = String(number)
        let padding = String(repeating: "0", count: max(0, 6 - digits.count))
        return "hits-\(padding)\(digits).jsonl"
    }

    /// Nil for files that the sink has not made. The highest number leaves room for later ones.
    private static func number(of name: String) -> Int? {
        guard name.hasPrefix("hits-"), name.hasSuffix(".jsonl"),
            let number = Int(name.dropFirst(5).dropLast(6)),
            (1...999_999_999_999).contains(number), name == Self.name(of: number)
        else { return nil }
        return number
    }

    private static func sync(_ path: String) throws(WriteError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw WriteError(number: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw WriteError(number: errno) }
    }
}
