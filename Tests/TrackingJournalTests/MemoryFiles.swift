// Files in memory, for tests that open a log tens of thousands of times.
internal import Glibc
@testable internal import Storage
@testable internal import TrackingJournal

/// One directory. `@unchecked Sendable`: used by one task.
final class MemoryFiles: FileSystem, Directory, @unchecked Sendable {
    let path = "memory"
    var files: [String: MemoryFile]

    init(_ files: [String: [UInt8]]) {
        self.files = files.mapValues { MemoryFile($0) }
    }

    func directory(_ path: String) -> any Directory { self }
    func names() -> [String] { Array(self.files.keys) }
    func sync() {}

    func open(_ name: String) -> any OpenFile {
        if let file = self.files[name] { return file }
        let file = MemoryFile([])
        self.files[name] = file
        return file
    }

    func rename(_ name: String, to newName: String) throws(SystemError) {
        guard let file = self.files.removeValue(forKey: name) else {
            throw SystemError("rename", name, ENOENT)
        }
        self.files[newName] = file
    }

    func remove(_ name: String) throws(SystemError) {
        guard self.files.removeValue(forKey: name) != nil else {
            throw SystemError("unlink", name, ENOENT)
        }
    }
}

/// One file.
final class MemoryFile: OpenFile {
    let path = "memory"
    private var bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func size() -> Int { self.bytes.count }
    func sync() {}
    // Allocates nothing: ballasts would dominate the cost of these tests.
    func allocate(_ byteCount: Int) {}

    func truncate(to byteCount: Int) {
        let missing = byteCount - self.bytes.count
        if missing > 0 {
            self.bytes += [UInt8](repeating: 0, count: missing)
        } else {
            self.bytes.removeLast(-missing)
        }
    }

    func write(_ parts: ArraySlice<ArraySlice<UInt8>>, at offset: Int) -> Int {
        var end = offset
        for part in parts {
            if self.bytes.count < end + part.count { self.truncate(to: end + part.count) }
            self.bytes.replaceSubrange(end..<end + part.count, with: part)
            end += part.count
        }
        return end - offset
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
        let part = self.bytes.dropFirst(offset).prefix(buffer.count)
        buffer.copyBytes(from: part)
        return part.count
    }
}
