internal import Glibc

/// Creates directories. `FileSystem.directory` is built on it, for real files and for the simulated
/// disk.
package protocol DirectoryTree {
    /// Opens a directory; nil if it does not exist.
    ///
    /// - Throws: `SystemError`.
    func existing(_ path: String) throws(SystemError) -> (any Directory)?

    /// Creates a directory (0700) in an existing one; succeeds if it exists already.
    ///
    /// - Throws: `SystemError`.
    func make(_ path: String) throws(SystemError)

    /// Whether this process may create entries in a directory and read it, which a sync requires.
    func isWritable(_ path: String) -> Bool
}

extension FileSystem where Self: DirectoryTree {
    /// Opens a directory, creating it and its parents if missing. Syncs every entry on the path
    /// that this user could have created, not just new ones: an earlier process may have ended
    /// before its sync, and a power cut would remove the directory with its contents.
    ///
    /// - Throws: `SystemError`.
    package func directory(_ path: String) throws(SystemError) -> any Directory {
        let found = try self.existing(path)
        if let parent = Self.parent(of: path), found == nil || self.isWritable(parent) {
            let above = try self.directory(parent)
            if found == nil { try self.make(path) }
            try above.sync()
        }
        if let found { return found }
        guard let made = try self.existing(path) else { throw SystemError("open", path, ENOENT) }
        return made
    }

    /// The parent directory; nil for the root and the current directory.
    private static func parent(of path: String) -> String? {
        var name = path[...]
        while name.last == "/" { name.removeLast() }
        if name.isEmpty || name == "." { return nil }
        guard let slash = name.lastIndex(of: "/") else { return "." }
        return slash == name.startIndex ? "/" : String(name[..<slash])
    }
}
