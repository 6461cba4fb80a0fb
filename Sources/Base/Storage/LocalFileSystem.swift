internal import Glibc

/// The local file system, through system calls.
package struct LocalFileSystem: FileSystem, DirectoryTree {
    /// Creates the file system; it has no state.
    package init() {}

    /// Opens a directory; nil if it does not exist.
    ///
    /// - Throws: `SystemError`.
    package func existing(_ path: String) throws(SystemError) -> (any Directory)? {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor >= 0 { return LocalDirectory(path, descriptor) }
        guard errno == ENOENT else { throw SystemError("open", path) }
        return nil
    }

    /// Creates a directory (0700) in an existing one; succeeds if it exists already.
    ///
    /// - Throws: `SystemError`.
    package func make(_ path: String) throws(SystemError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError("mkdir", path) }
    }

    /// Whether this process may create entries in a directory, and read it to sync it.
    package func isWritable(_ path: String) -> Bool { access(path, R_OK | W_OK | X_OK) == 0 }
}

private final class LocalDirectory: Directory {
    let path: String
    private let descriptor: CInt

    init(_ path: String, _ descriptor: CInt) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    func names() throws(SystemError) -> [String] {
        guard let stream = opendir(self.path) else { throw SystemError("opendir", self.path) }
        defer { closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw SystemError("readdir", self.path) }
        return names
    }

    func open(_ name: String) throws(SystemError) -> any OpenFile {
        let path = "\(self.path)/\(name)"
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError("open", path) }
        return LocalFile(path, descriptor)
    }

    func rename(_ name: String, to newName: String) throws(SystemError) {
        let path = "\(self.path)/\(name)"
        guard Glibc.rename(path, "\(self.path)/\(newName)") == 0 else {
            throw SystemError("rename", path)
        }
    }

    func remove(_ name: String) throws(SystemError) {
        let path = "\(self.path)/\(name)"
        guard unlink(path) == 0 else { throw SystemError("unlink", path) }
    }

    func sync() throws(SystemError) {
        while fsync(self.descriptor) != 0 {
            guard errno == EINTR else { throw SystemError("fsync", self.path) }
        }
    }
}

private final class LocalFile: OpenFile {
    let path: String
    private let descriptor: CInt

    init(_ path: String, _ descriptor: CInt) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    func size() throws(SystemError) -> Int {
        var status = stat()
        guard fstat(self.descriptor, &status) == 0 else { throw SystemError("fstat", self.path) }
        return Int(status.st_size)
    }

    func write(
        _ parts: ArraySlice<ArraySlice<UInt8>>, at offset: Int
    ) throws(SystemError) -> Int {
        let count = Self.withVectors(parts) {
            pwritev(self.descriptor, $0.baseAddress, CInt($0.count), off_t(offset))
        }
        guard count >= 0 else { throw SystemError("pwritev", self.path) }
        return count
    }

    /// Calls `body` with the addresses of all parts, which are valid only until it returns.
    private static func withVectors<Value>(
        _ parts: ArraySlice<ArraySlice<UInt8>>, _ vectors: [iovec] = [],
        _ body: (UnsafeBufferPointer<iovec>) -> Value
    ) -> Value {
        guard let first = parts.first else { return vectors.withUnsafeBufferPointer(body) }
        return first.withUnsafeBytes { bytes in
            let vector = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                iov_len: bytes.count)
            return Self.withVectors(parts.dropFirst(), vectors + [vector], body)
        }
    }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemError) -> Int {
        let count = pread(self.descriptor, buffer.baseAddress, buffer.count, off_t(offset))
        guard count >= 0 else { throw SystemError("pread", self.path) }
        return count
    }

    func sync() throws(SystemError) {
        while fdatasync(self.descriptor) != 0 {
            guard errno == EINTR else { throw SystemError("fdatasync", self.path) }
        }
    }

    func allocate(_ byteCount: Int) throws(SystemError) {
        let code = posix_fallocate(self.descriptor, 0, off_t(byteCount))
        guard code == 0 else { throw SystemError("posix_fallocate", self.path, code) }
    }

    func truncate(to byteCount: Int) throws(SystemError) {
        guard ftruncate(self.descriptor, off_t(byteCount)) == 0 else {
            throw SystemError("ftruncate", self.path)
        }
    }
}
