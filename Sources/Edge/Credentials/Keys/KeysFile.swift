// stat() is CoreFoundation's or Glibc's, depending on which module the compiler loads first.
internal import CoreFoundation
internal import Foundation
internal import Glibc

/// The file of API keys, a JSON object per line, so that tools can read it and people can diff it.
/// It is always replaced atomically, and keeps its owner and its mode: root may change the keys of
/// a server that runs as another user. That user may own the directory, and so put anything in the
/// place of the file and of its lock: a change follows no link there.
package struct KeysFile: Sendable {
    /// The maximum bytes of a file: some 50,000 keys.
    static let maxBytes = 16 << 20

    /// The file's path.
    package let path: String

    /// Creates a reference to the file, which need not exist yet.
    package init(path: String) { self.path = path }

    /// The keys, in the order of the file.
    ///
    /// - Throws: `UnusableFileError` if it cannot be read or a line is malformed.
    package func records() throws -> [KeyRecord] {
        try self.records(in: ReadableFile.read(self.path, maxBytes: Self.maxBytes))
    }

    private func records(in data: Data) throws -> [KeyRecord] {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        var records: [KeyRecord] = []
        var ids: Set<String> = []
        for (index, line) in data.split(separator: 0x0a, omittingEmptySubsequences: false)
            .enumerated() where !line.isEmpty
        {
            // The decoder's message might quote the line.
            guard let record = try? decoder.decode(KeyRecord.self, from: Data(line)),
                record.digest != nil, Tenant(record.tenant) != nil
            else {
                throw UnusableFileError(
                    description: "\(self.path):\(index + 1) is no API key: restore the line, or "
                        + "remove it and make a new key with `sightline keys new`")
            }
            guard ids.insert(record.id).inserted else {
                throw UnusableFileError(
                    description: "\(self.path):\(index + 1) has the id \(record.id), which stands "
                        + "above already: remove one of the two")
            }
            records.append(record)
        }
        return records
    }

    /// Updates the file: reads it, lets `body` change the records and replaces it, under a lock
    /// that other commands take too. A crash leaves the old file or the new one.
    ///
    /// - Throws: `UnusableFileError`, also if the file or its lock is a link or has another name,
    ///   or an error of `body`; then nothing is changed.
    package func update<Value>(_ body: (inout [KeyRecord]) throws -> Value) throws -> Value {
        // Before anything is created that the owner could not use.
        try self.checkOwner()
        let lock = try self.takeLock()
        defer { close(lock) }
        // What is kept is that of the file that is read: another command, or its owner, may have
        // changed it before the lock was free.
        let file = try self.openedFile()
        let permissions = try file.map { try self.permissions(of: $0) } ?? self.newPermissions()
        // The lock belongs to the file's owner as well, whoever took it first.
        try self.apply(Permissions(permissions, mode: 0o600), to: lock)
        var records: [KeyRecord] = []
        if let file {
            records = try self.records(
                in: ReadableFile.read(file, self.path, maxBytes: Self.maxBytes))
        }
        let value = try body(&records)
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var data = Data()
        for record in records {
            data.append(try encoder.encode(record))
            data.append(0x0a)
        }
        try self.replace(with: data, permissions)
        return value
    }

    // MARK: Opening

    /// Opens the lock, which it creates if it is missing, and waits until it is free. It is given
    /// to the file's owner, and so may be no other file that somebody has put in its place: a lock
    /// has no contents that its owner could then read.
    private func takeLock() throws -> CInt {
        let path = self.path + ".lock"
        let lock = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw errno == ELOOP ? self.link(path) : self.failure("locked") }
        do {
            var status = stat()
            guard fstat(lock, &status) == 0 else { throw self.failure("locked") }
            try self.check(status, path)
            guard status.st_size == 0 else {
                throw UnusableFileError(
                    description: "\(path) is no lock, since it is not empty: remove it")
            }
            guard flock(lock, LOCK_EX) == 0 else { throw self.failure("locked") }
        } catch {
            close(lock)
            throw error
        }
        return lock
    }

    /// Opens the file that is to be replaced; nil if there is none.
    private func openedFile() throws -> FileHandle? {
        // A FIFO in its place would otherwise wait for a writer.
        let file = open(self.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file < 0, errno == ENOENT { return nil }
        guard file >= 0 else { throw errno == ELOOP ? self.link(self.path) : self.failure("read") }
        return FileHandle(fileDescriptor: file, closeOnDealloc: true)
    }

    /// Refuses what is no regular file, or has more names than this one: a change would be another
    /// file's, or the other name would keep a revoked key.
    private func check(_ status: stat, _ path: String) throws {
        guard status.st_mode & S_IFMT != S_IFLNK else { throw self.link(path) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
            throw UnusableFileError(
                description: "\(path) is not changed, since it is no regular file or has another "
                    + "name (a hard link): put a copy in its place")
        }
    }

    private func link(_ path: String) -> UnusableFileError {
        UnusableFileError(
            description: "\(path) is not changed, since it is a symbolic link: name the file that "
                + "it leads to")
    }

    // MARK: Owner and mode

    /// Who owns the file, and who may read it.
    private struct Permissions {
        let owner: uid_t
        let group: gid_t
        let mode: mode_t

        init(owner: uid_t, group: gid_t, mode: mode_t) {
            (self.owner, self.group, self.mode) = (owner, group, mode)
        }

        init(_ status: stat) {
            self.init(owner: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o777)
        }

        init(_ other: Permissions, mode: mode_t) {
            self.init(owner: other.owner, group: other.group, mode: mode)
        }
    }

    /// Refuses a user who could not give the file back to its owner.
    private func checkOwner() throws {
        var status = stat()
        if lstat(self.path, &status) == 0 {
            _ = try self.permissions(status)
        } else {
            guard errno == ENOENT else { throw self.failure("read") }
            _ = try self.newPermissions()
        }
    }

    /// Those that an open file keeps.
    private func permissions(of file: FileHandle) throws -> Permissions {
        var status = stat()
        guard fstat(file.fileDescriptor, &status) == 0 else { throw self.failure("read") }
        return try self.permissions(status)
    }

    private func permissions(_ status: stat) throws -> Permissions {
        try self.check(status, self.path)
        let kept = Permissions(status)
        guard geteuid() == 0 || geteuid() == kept.owner else { throw self.failure(EPERM, kept) }
        return kept
    }

    /// What root creates belongs to the owner of the directory. In a directory of root that another
    /// group may read, such as a server's, that group may read the file too.
    private func newPermissions() throws -> Permissions {
        var status = stat()
        guard stat(self.folder, &status) == 0 else { throw self.failure("written") }
        let directory = Permissions(status)
        guard geteuid() == 0 else {
            return Permissions(owner: geteuid(), group: getegid(), mode: 0o600)
        }
        let isShared = directory.owner == 0 && directory.group != 0 && directory.mode & 0o040 != 0
        return Permissions(directory, mode: isShared ? 0o640 : 0o600)
    }

    /// Gives an open file its owner, group and mode.
    private func apply(_ permissions: Permissions, to file: CInt) throws {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw self.failure("written") }
        let isTheirs = status.st_uid == permissions.owner && status.st_gid == permissions.group
        guard isTheirs || fchown(file, permissions.owner, permissions.group) == 0 else {
            throw self.failure(errno, permissions)
        }
        guard status.st_mode & 0o777 == permissions.mode || fchmod(file, permissions.mode) == 0
        else { throw self.failure("written") }
    }

    private func failure(_ reason: CInt, _ permissions: Permissions) -> UnusableFileError {
        UnusableFileError(
            description: "\(self.path) belongs to user \(permissions.owner) and group "
                + "\(permissions.group), which this user cannot keep: "
                + "\(String(cString: strerror(reason))); run it as that user, or as root")
    }

    private var folder: String {
        let folder = (self.path as NSString).deletingLastPathComponent
        return folder.isEmpty ? "." : folder
    }

    // MARK: Replacing

    /// Writes and syncs a new file, then renames it over the old one.
    private func replace(with data: Data, _ permissions: Permissions) throws {
        let temporary = self.path + ".new"
        _ = unlink(temporary)
        let file = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw self.failure("written") }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        do {
            try self.apply(permissions, to: file)
            try handle.write(contentsOf: data)
            guard fsync(file) == 0, rename(temporary, self.path) == 0 else {
                throw self.failure("written")
            }
        } catch {
            let problem = error as? UnusableFileError ?? self.failure("written")
            _ = unlink(temporary)
            throw problem
        }
        // Sync the rename too, or a power cut could restore a revoked key.
        let directory = open(self.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw self.failure("synced") }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw self.failure("synced") }
    }

    private func failure(_ what: String) -> UnusableFileError {
        let reason = String(cString: strerror(errno))
        return UnusableFileError(
            description: "\(self.path) cannot be \(what): \(reason); see that its directory is "
                + "there and yours")
    }
}
