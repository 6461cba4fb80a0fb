// One process per data directory: a lock that ends with the process, and says who holds it.
internal import Foundation
internal import Glibc

/// An exclusive lock on a data directory, held until it is deallocated or the process ends.
package final class DirectoryLock: Sendable {
    private let descriptor: CInt

    /// What builds before the log of segments kept acked hits in.
    private static let formerJournal = "journal.db"

    /// Takes the lock, creating the directory where it is missing.
    ///
    /// - Throws: `JournalError.locked` where another process holds it, `.unusable` where the
    ///   directory cannot be made or written, `.foreign` where a build before 6cb32c8 left its
    ///   journal there.
    package init(directory: String) throws(JournalError) {
        do throws(SystemError) {
            _ = try LocalFileSystem().directory(directory)
        } catch {
            throw .unusable(path: directory, reason: "\(error)")
        }
        let former = "\(directory)/\(Self.formerJournal)"
        guard access(former, F_OK) != 0 else {
            throw .foreign(
                path: former,
                reason: "it is the journal of a build before the log of segments, and may hold "
                    + "acked hits that no sink has; that build delivers them")
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
        // The pid only helps people; the lock holds without it, also on a full disk.
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
