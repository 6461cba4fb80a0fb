internal import Foundation
internal import Glibc

/// The directory of the jsonl sink: `hits-000001.jsonl` or `hits-000001.jsonl.zst`, and so on. Both
/// forms share the numbers. Lines are appended to the newest file; the others are full.
struct JSONLinesDirectory {
    let path: String

    /// A file, by its number and form.
    struct File: Equatable {
        let number: Int
        let compression: JSONLinesConfiguration.Compression
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

    /// A directory that is there.
    init(at path: String) { self.path = path }

    /// The path of a file.
    func path(of file: File) -> String { "\(self.path)/\(file.name)" }

    /// All files in the order of their numbers. Two may share one, if somebody has decompressed a
    /// file beside itself.
    func files() throws -> [File] {
        try FileManager.default.contentsOfDirectory(atPath: self.path)
            .compactMap(File.init(name:)).sorted { $0.number < $1.number }
    }

    /// Syncs the entries: otherwise a synced file may be missing after a power cut.
    func sync() throws(WriteError) { try Self.sync(self.path) }

    /// The oldest full files beyond a limit, but never the newest full one. The directory is read
    /// each time, because another program may have moved files away.
    ///
    /// - Parameter current: the number of the file that is not full.
    func excess(
        before current: Int, _ configuration: JSONLinesConfiguration
    ) throws -> ArraySlice<(file: File, bytes: Int)> {
        guard configuration.retainFiles > 0 || configuration.maxBytes > 0 else { return [] }
        let full = try self.files().filter { $0.number < current }.compactMap(self.measured)
        let maxFiles = configuration.retainFiles > 0 ? configuration.retainFiles : .max
        var bytesLeft = configuration.maxBytes > 0 ? configuration.maxBytes : .max
        var kept = 0
        for (_, bytes) in full.reversed() {
            guard kept == 0 || kept < maxFiles && bytes <= bytesLeft else { break }
            kept += 1
            bytesLeft -= min(bytes, bytesLeft)
        }
        return full.dropLast(kept)
    }

    /// Deletes a file; a directory of that name stays.
    func remove(_ file: File) throws(WriteError) {
        guard unlink(self.path(of: file)) == 0 else {
            throw WriteError(number: errno, action: "delete")
        }
    }

    /// Nil if the file is gone.
    private func measured(_ file: File) -> (file: File, bytes: Int)? {
        var status = stat()
        guard stat(self.path(of: file), &status) == 0 else { return nil }
        return (file, Int(status.st_size))
    }

    private static func sync(_ path: String) throws(WriteError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw WriteError(number: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw WriteError(number: errno) }
    }
}

extension JSONLinesDirectory.File {
    /// The name in the directory.
    var name: String {
        let digits = String(self.number)
        let padding = String(repeating: "0", count: max(0, 6 - digits.count))
        return "hits-\(padding)\(digits)\(self.compression.ending)"
    }

    /// Nil for files that the sink has not made. The highest number leaves room for later ones.
    init?(name: String) {
        for compression in JSONLinesConfiguration.Compression.allCases {
            guard name.hasPrefix("hits-"), name.hasSuffix(compression.ending),
                let number = Int(name.dropFirst(5).dropLast(compression.ending.count)),
                (1...999_999_999_999).contains(number)
            else { continue }
            self.init(number: number, compression: compression)
            if name == self.name { return }
        }
        return nil
    }
}

extension JSONLinesConfiguration.Compression {
    fileprivate var ending: String {
        switch self {
        case .none: ".jsonl"
        case .zstd: ".jsonl.zst"
        }
    }
}
