// How a directory comes to be, and stays: the same way on the system's files and on a simulated
// disk.
internal import Glibc

/// The calls that make directories. Whoever has them has `FileSystem.directory` too.
package protocol DirectoryTree {
    /// Opens a directory; nil where there is none of that path.
    ///
    /// - Throws: `SystemError`.
    func existing(_ path: String) throws(SystemError) -> (any Directory)?

    /// Makes a directory (0700) in one that is there; it may be there already.
    ///
    /// - Throws: `SystemError`.
    func make(_ path: String) throws(SystemError)

    /// Whether this process may make something in a directory, and read it: a directory that cannot
    /// be opened cannot be synced.
    func isWritable(_ path: String) -> Bool
}

extension FileSystem where Self: DirectoryTree {
    /// Opens a directory, made with its parents where they are missing. Every entry on the way that
    /// this user could have made is synced, not only those that are new: an earlier process may
    /// have made one and ended before its sync, and a power cut would take all that is in it.
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

    /// The directory above; nil of the root and of the current directory.
    private static func parent(of path: String) -> String? {
        var name = path[...]
        while name.last == "/" { name.removeLast() }
        if name.isEmpty || name == "." { return nil }
        guard let slash = name.lastIndex(of: "/") else { return "." }
        return slash == name.startIndex ? "/" : String(name[..<slash])
    }
}
