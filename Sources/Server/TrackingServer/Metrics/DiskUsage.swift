internal import Foundation
internal import Glibc
internal import Synchronization

/// The space that files take on disk, and that is free beside them. Reads the file system
/// every ten seconds at most: a directory may have thousands of files.
final class DiskUsage: Sendable {
    private let paths: [String]
    private let last = Mutex<(time: ContinuousClock.Instant, bytes: Int)?>(nil)

    private static let interval = Duration.seconds(10)

    /// - Parameter paths: files, and directories of files; one that is missing takes nothing.
    init(of paths: [String]) { self.paths = paths }

    /// The bytes of the files.
    func bytes(at now: ContinuousClock.Instant = .now) -> Int {
        self.last.withLock { last in
            if let last, last.time.duration(to: now) < Self.interval { return last.bytes }
            let bytes = self.paths.reduce(0) { $0 + Self.bytes(of: $1) }
            last = (now, bytes)
            return bytes
        }
    }

    private static func bytes(of path: String) -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { return 0 }
        guard status.st_mode & S_IFMT == S_IFDIR else { return Int(status.st_size) }
        // A directory that cannot be read is a problem of its sink, which reports it.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.reduce(0) { bytes, name in
            guard stat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG
            else { return bytes }
            return bytes + Int(status.st_size)
        }
    }

    /// The bytes that a data directory may grow to: what is free, and what its files and its
    /// journal have already; nil if the system does not say.
    static func room(in directory: String) -> Int? {
        let used = Self.bytes(of: directory) + Self.bytes(of: directory + "/journal")
        return Self.freeBytes(beside: directory).map { $0 + used }
    }

    /// The bytes that this user may still write beside a path; nil if the system does not say.
    static func freeBytes(beside path: String) -> Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(
                by: UInt64(status.f_frsize)
            ).partialValue)
    }
}
