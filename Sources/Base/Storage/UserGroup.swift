internal import Glibc

/// A group of this machine's users, to which a file may be shown.
package struct UserGroup: Sendable, Equatable {
    /// Its number.
    package let id: UInt32

    /// The largest entry of the database of groups, in bytes.
    private static let maxEntryBytes = 1 << 20
    /// Of a file that the group may read.
    private static let fileMode: mode_t = 0o640

    /// Looks a group up; nil if there is none with this name.
    package init?(named name: String) {
        var entry = group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: Self.maxEntryBytes)
        let code = getgrnam_r(name, &entry, &buffer, buffer.count, &found)
        guard code == 0, found != nil else { return nil }
        self.id = entry.gr_gid
    }

    /// Whether this process may give files to the group: it is one of its own, or root.
    package var mayGetFiles: Bool {
        if geteuid() == 0 || getegid() == self.id { return true }
        var ids = [gid_t](repeating: 0, count: Int(max(getgroups(0, nil), 0)))
        let count = getgroups(CInt(ids.count), &ids)
        return ids.prefix(Int(max(count, 0))).contains(self.id)
    }

    /// Lets the group read files that are there, and find them in their directory. Whatever else
    /// the directory has keeps its own modes.
    ///
    /// - Throws: `SystemError`.
    package func mayRead(_ files: [String], in directory: String) throws(SystemError) {
        for file in files where access(file, F_OK) == 0 { try self.give(file, mode: Self.fileMode) }
        var status = stat()
        guard stat(directory, &status) == 0 else { throw SystemError("stat", directory) }
        try self.give(directory, mode: status.st_mode & 0o7777 | 0o010)
    }

    /// Whether `mayRead` has given the file to the group, and nobody has changed it since.
    func has(_ file: String) -> Bool {
        var status = stat()
        return stat(file, &status) == 0 && status.st_gid == self.id
            && status.st_mode & 0o777 == Self.fileMode
    }

    private func give(_ path: String, mode: mode_t) throws(SystemError) {
        // Unchanged: all bits of the argument.
        guard chown(path, uid_t.max, self.id) == 0 else { throw SystemError("chown", path) }
        guard chmod(path, mode) == 0 else { throw SystemError("chmod", path) }
    }
}
