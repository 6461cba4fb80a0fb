// The journal's file system on a simulated disk.
internal import Glibc
internal import Storage
internal import TrackingJournal

/// A process's view of a disk.
struct SimulatedFileSystem: FileSystem, DirectoryTree {
    let disk: SimulatedDisk

    func existing(_ path: String) -> (any Directory)? {
        self.disk.node(path).map { SimulatedDirectory(path, $0, self.disk) }
    }

    func make(_ path: String) throws(SystemError) {
        try self.disk.call("mkdir", path)
        let parts = path.split(separator: "/")
        guard let name = parts.last, let parent = self.disk.node(String(path.dropLast(name.count)))
        else { throw SystemError("mkdir", path, ENOENT) }
        self.disk.change(parent, .add(String(name), SimulatedDisk.Node(isDirectory: true)))
    }

    func isWritable(_ path: String) -> Bool { true }
}

/// An open directory of a simulated disk.
private final class SimulatedDirectory: Directory {
    let path: String
    private let node: SimulatedDisk.Node
    private let disk: SimulatedDisk

    init(_ path: String, _ node: SimulatedDisk.Node, _ disk: SimulatedDisk) {
        self.path = path
        self.node = node
        self.disk = disk
    }

    func names() throws(SystemError) -> [String] {
        try self.disk.call("opendir", self.path)
        return self.node.entries.keys.sorted()
    }

    func open(_ name: String) throws(SystemError) -> any OpenFile {
        try self.disk.call("open", "\(self.path)/\(name)")
        if let file = self.node.entries[name] {
            return SimulatedFile("\(self.path)/\(name)", file, self.disk)
        }
        let file = SimulatedDisk.Node(isDirectory: false)
        self.disk.change(self.node, .add(name, file))
        return SimulatedFile("\(self.path)/\(name)", file, self.disk)
    }

    func rename(_ name: String, to newName: String) throws(SystemError) {
        try self.disk.call("rename", "\(self.path)/\(name)")
        self.disk.change(self.node, .rename(name, newName))
    }

    func remove(_ name: String) throws(SystemError) {
        try self.disk.call("unlink", "\(self.path)/\(name)")
        self.disk.change(self.node, .remove(name))
    }

    func sync() throws(SystemError) {
        try self.disk.call("fsync", self.path)
        self.disk.syncEntries(self.node)
    }
}

/// An open file of a simulated disk.
private final class SimulatedFile: OpenFile {
    let path: String
    private let node: SimulatedDisk.Node
    private let disk: SimulatedDisk

    init(_ path: String, _ node: SimulatedDisk.Node, _ disk: SimulatedDisk) {
        self.path = path
        self.node = node
        self.disk = disk
    }

    func size() throws(SystemError) -> Int {
        try self.disk.call("fstat", self.path)
        return self.node.bytes.count
    }

    func write(
        _ parts: ArraySlice<ArraySlice<UInt8>>, at offset: Int
    ) throws(SystemError) -> Int {
        let bytes = Array(parts.joined())
        do throws(SystemError) {
            try self.disk.call("pwritev", self.path)
        } catch {
            // A call that fails or is interrupted by a kill may be partly effective.
            let isLast = self.disk.callsUntilEnd == -1
            if isLast || error.code == EIO && !self.disk.isDead, !bytes.isEmpty {
                // Within the used part: most of a segment's write is zeros.
                let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
                let start = self.disk.dice.chance(0.5) ? max(0, end - 600) : 0
                let count = self.disk.dice.number(start...end)
                self.disk.write(bytes.prefix(count), to: self.node, at: offset)
                if offset < SimulatedDisk.pageBytes { self.node.isTorn = true }
            }
            throw error
        }
        var count = self.disk.faults.handled(bytes.count, self.disk.dice)
        let growth = offset + count - self.node.bytes.count
        let room =
            self.disk.faults.capacity == .max
            ? Int.max : self.disk.faults.capacity - self.disk.usedBytes
        if growth > 0, growth > room {
            self.disk.faults.note()
            count = count - growth + max(0, room)
            if offset < SimulatedDisk.pageBytes { self.node.isTorn = true }
            guard count > 0 else { throw SystemError("pwritev", self.path, ENOSPC) }
        }
        self.disk.write(bytes.prefix(count), to: self.node, at: offset)
        return count
    }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemError) -> Int {
        try self.disk.call("pread", self.path)
        let end = min(offset + buffer.count, self.node.bytes.count)
        guard offset < end else { return 0 }
        let count = self.disk.faults.handled(end - offset, self.disk.dice)
        let sectors =
            offset / SimulatedDisk.sectorBytes...(offset + count - 1) / SimulatedDisk.sectorBytes
        guard self.node.unreadable.isDisjoint(with: sectors) else {
            throw SystemError("pread", self.path, EIO)
        }
        buffer.copyBytes(from: self.node.bytes[offset..<offset + count])
        return count
    }

    func sync() throws(SystemError) {
        do throws(SystemError) {
            try self.disk.call("fdatasync", self.path)
        } catch {
            if !self.disk.isDead { self.disk.sync(self.node, fails: true) }
            throw error
        }
        self.disk.sync(self.node)
    }

    func allocate(_ byteCount: Int) throws(SystemError) {
        try self.disk.call("posix_fallocate", self.path)
        let growth = byteCount - self.node.bytes.count
        guard growth > 0 else { return }
        guard
            self.disk.faults.capacity == .max
                || growth <= self.disk.faults.capacity - self.disk.usedBytes
        else { throw SystemError("posix_fallocate", self.path, ENOSPC) }
        self.disk.truncate(self.node, to: byteCount)
    }

    func truncate(to byteCount: Int) throws(SystemError) {
        try self.disk.call("ftruncate", self.path)
        self.disk.truncate(self.node, to: byteCount)
    }
}
