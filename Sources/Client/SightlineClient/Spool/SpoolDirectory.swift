internal import Foundation

/// A spool's directory on the system's disk, locked for one owner.
package final class SpoolDirectory: SpoolDisk {
    private static let suffix = ".spool"
    private static let marksSuffix = ".settled"

    private let path: String
    private let lock: Descriptor

    /// Creates or opens a directory, and locks it until the last reference is released.
    package init(_ path: String) throws(SpoolError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true)
        } catch {
            throw .failed(operation: "make", file: path, reason: "\(error.localizedDescription)")
        }
        self.path = path
        self.lock = try Descriptor(path + "/lock", O_RDWR | O_CREAT)
        guard flock(self.lock.number, LOCK_EX | LOCK_NB) == 0 else {
            if errno == EWOULDBLOCK { throw .locked(directory: path) }
            // Such as a file system that has no locks, or none left.
            throw .system("lock", self.lock.path)
        }
        guard self.lock.takeRecordLock() else { throw .locked(directory: path) }
    }

    /// The numbers of the files, in order.
    package func segments() throws(SpoolError) -> [UInt64] { try self.numbers(Self.suffix) }

    /// The numbers of the segments that have a file of marks, in order.
    package func marked() throws(SpoolError) -> [UInt64] { try self.numbers(Self.marksSuffix) }

    /// Those of the files with this suffix. A file with another name, such as a user's copy, does
    /// not belong to the spool.
    private func numbers(_ suffix: String) throws(SpoolError) -> [UInt64] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: self.path)
        } catch {
            throw .failed(
                operation: "list", file: self.path, reason: "\(error.localizedDescription)")
        }
        let numbers = names.compactMap { name -> UInt64? in
            let number = UInt64(name.dropLast(suffix.count), radix: 16)
            return number.flatMap { Self.name(of: $0, suffix) == name ? $0 : nil }
        }
        return numbers.sorted()
    }

    /// The contents of a file.
    package func contents(of segment: UInt64) throws(SpoolError) -> [UInt8] {
        try self.contents(atPath: self.path(of: segment))
    }

    /// The contents of a segment's file of marks.
    package func marks(of segment: UInt64) throws(SpoolError) -> [UInt8] {
        try self.contents(atPath: self.marksPath(of: segment))
    }

    private func contents(atPath path: String) throws(SpoolError) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw .failed(operation: "read", file: path, reason: "it cannot be opened")
        }
        return Array(data)
    }

    /// Opens a file that exists.
    package func open(_ segment: UInt64) throws(SpoolError) -> any SpoolFile {
        try Descriptor(self.path(of: segment), O_WRONLY | O_APPEND)
    }

    /// Creates an empty file, and syncs its name.
    package func create(_ segment: UInt64) throws(SpoolError) -> any SpoolFile {
        let file = try Descriptor(
            self.path(of: segment), O_WRONLY | O_APPEND | O_CREAT | O_TRUNC)
        try self.syncNames()
        return file
    }

    /// Returns once it is durable which files exist.
    package func syncNames() throws(SpoolError) {
        let directory = try Descriptor(self.path, O_RDONLY | O_DIRECTORY)
        guard fsync(directory.number) == 0 else { throw .system("sync", self.path) }
    }

    /// Writes at a byte of a segment's file of marks.
    package func write(
        _ marks: [UInt8], at byte: Int, toMarksOf segment: UInt64
    ) throws(SpoolError) {
        let file = try Descriptor(self.marksPath(of: segment), O_RDWR | O_CREAT)
        if file.byteCount < SpoolMarks.magic.count { try file.put(SpoolMarks.magic, at: 0) }
        try file.put(marks, at: byte)
    }

    /// Returns once a segment's marks are durable.
    package func syncMarks(of segment: UInt64) throws(SpoolError) {
        try Descriptor(self.marksPath(of: segment), O_RDWR).sync()
    }

    /// Removes a segment's file of marks.
    package func removeMarks(of segment: UInt64) throws(SpoolError) {
        let path = self.marksPath(of: segment)
        guard unlink(path) == 0 || errno == ENOENT else { throw .system("remove", path) }
    }

    /// Removes a file.
    package func remove(_ segment: UInt64) throws(SpoolError) {
        let path = self.path(of: segment)
        guard unlink(path) == 0 else { throw .system("remove", path) }
    }

    /// The path of a file.
    package func path(of segment: UInt64) -> String {
        "\(self.path)/\(Self.name(of: segment, Self.suffix))"
    }

    private func marksPath(of segment: UInt64) -> String {
        "\(self.path)/\(Self.name(of: segment, Self.marksSuffix))"
    }

    private static func name(of segment: UInt64, _ suffix: String) -> String {
        let number = String(segment, radix: 16)
        let zeros = String(repeating: "0", count: max(0, 16 - number.count))
        return zeros + number + suffix
    }
}

/// A file descriptor, closed when the last reference is released.
private final class Descriptor: SpoolFile {
    private static let mode: mode_t = 0o600
    /// F_OFD_SETLK of fcntl(2), which Glibc's module lacks. It locks the descriptor: a lock of the
    /// process would end when any other descriptor of the file is closed.
    private static let setRecordLock: Int32 = 37

    let path: String
    let number: Int32

    init(_ path: String, _ flags: Int32) throws(SpoolError) {
        self.path = path
        self.number = Foundation.open(path, flags | O_CLOEXEC, Self.mode)
        guard self.number >= 0 else { throw .system("open", path) }
    }

    deinit { if self.number >= 0 { close(self.number) } }

    /// Locks the file for this descriptor, and also against clients in Java, which has no flock;
    /// false if another client has the lock. Does nothing where such locks do not exist.
    func takeRecordLock() -> Bool {
        #if os(Linux)
        var whole = Foundation.flock()
        whole.l_type = Int16(F_WRLCK)
        whole.l_whence = Int16(SEEK_SET)
        return fcntl(self.number, Self.setRecordLock, &whole) == 0
            || (errno != EAGAIN && errno != EACCES)
        #else
        return true
        #endif
    }

    func append(_ bytes: [UInt8]) throws(SpoolError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(self.number, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system("write", self.path) }
            rest = rest.dropFirst(count)
        }
    }

    /// Its size; less than 0 if the system does not tell.
    var byteCount: Int { Int(lseek(self.number, 0, SEEK_END)) }

    /// Writes all bytes at an offset; if it throws, the file may contain some of them.
    func put(_ bytes: [UInt8], at offset: Int) throws(SpoolError) {
        var done = 0
        while done < bytes.count {
            let rest = bytes[done...]
            let count = rest.withUnsafeBytes {
                pwrite(self.number, $0.baseAddress, $0.count, off_t(offset + done))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system("write", self.path) }
            done += count
        }
    }

    func truncate(to byteCount: Int) throws(SpoolError) {
        guard ftruncate(self.number, off_t(byteCount)) == 0 else {
            throw .system("cut", self.path)
        }
    }

    func sync() throws(SpoolError) {
        #if os(Linux)
        let status = fdatasync(self.number)
        #else
        let status = fcntl(self.number, F_FULLFSYNC)
        #endif
        guard status == 0 else { throw .system("sync", self.path) }
    }
}

extension SpoolError {
    /// The error of the last system call.
    fileprivate static func system(_ operation: String, _ file: String) -> SpoolError {
        .failed(operation: operation, file: file, reason: String(cString: strerror(errno)))
    }
}
