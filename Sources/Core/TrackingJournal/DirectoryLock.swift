internal import Foundation
internal import Glibc
internal import Storage

/// An exclusive lock on a data directory, held until it is deallocated or the process ends, so that
/// two processes never share one. The file names the holder's pid.
package final class DirectoryLock: Sendable {
    private let descriptor: CInt

    /// The journal's file in builds before the log of segments.
    private static let formerJournal = "journal.db"

    /// Takes the lock; creates a missing directory.
    ///
    /// - Throws: `JournalError.locked` if another process holds it, `.unusable` if the directory
    ///   cannot be created or written, `.format` if it holds the journal of a build before the log
    ///   of segments, which may have acknowledged hits that no sink has.
    package init(directory: String) throws(JournalError) {
        do throws(SystemError) {
            _ = try LocalFileSystem().directory(directory)
        } catch {
            throw .unusable(path: directory, reason: "\(error)")
        }
        let former = "\(directory)/\(Self.formerJournal)"
        guard access(former, F_OK) != 0 else {
            throw .format(
                FileFormatError(path: former, .former(nil), known: SegmentHeader.format))
        }
        let path = directory + "/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .unusable(path: path, reason: String(cString: strerror(errno)))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let holder = Self.holder(descriptor)
            close(descriptor)
            throw .locked(directory: directory, holder: holder)
        }
        self.descriptor = descriptor
        let line = "\(getpid())\n"
        // The pid is for people only: the lock holds without it, for instance on a full disk.
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, line, line.utf8.count, 0)
    }

    deinit { close(self.descriptor) }

    private static func holder(_ descriptor: CInt) -> String {
        var buffer = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        let pid = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        return pid.isEmpty ? "another process" : "process \(pid)"
    }
}
