// SQLite on a simulated disk: a VFS (sqlite.org/vfs.html) for databases below `/sim/`, on the disk
// of the current history.
internal import GRDBSQLite
internal import Glibc
internal import Storage
internal import TrackingJournal

/// The disk with SQLite's files. A process runs one history at a time, on one thread.
enum SQLiteDisk {
    nonisolated(unsafe) static var disk: SimulatedDisk?

    /// The methods of all files. Never freed, because SQLite references them until the process
    /// ends.
    nonisolated(unsafe) static let methods: UnsafeMutablePointer<sqlite3_io_methods> = {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        methods.initialize(to: Self.makeMethods())
        return methods
    }()

    /// Registers the VFS as SQLite's default.
    static func register() {
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        var value = sqlite3_vfs()
        value.iVersion = 1
        value.szOsFile = CInt(MemoryLayout<SQLiteFileHandle>.stride)
        value.mxPathname = 512
        value.zName = UnsafePointer(strdup("simulated"))
        value.xOpen = { _, name, file, flags, outFlags in
            guard let file else { return SQLITE_CANTOPEN }
            outFlags?.pointee = flags
            return SQLiteDisk.open(name.map { String(cString: $0) }, file, flags)
        }
        value.xDelete = { _, name, _ in
            guard let name else { return SQLiteError.delete }
            return SQLiteDisk.remove(String(cString: name))
        }
        value.xAccess = { _, name, _, result in
            let path = name.map { String(cString: $0) } ?? ""
            result?.pointee = SQLiteDisk.disk?.node(path) == nil ? 0 : 1
            return SQLITE_OK
        }
        value.xFullPathname = { _, name, count, buffer in
            guard let name, let buffer, strlen(name) < Int(count) else { return SQLITE_CANTOPEN }
            strcpy(buffer, name)
            return SQLITE_OK
        }
        value.xRandomness = { _, count, buffer in
            for index in 0..<Int(count) {
                let byte = UInt8(truncatingIfNeeded: SQLiteDisk.disk?.dice.next() ?? 0)
                buffer?[index] = CChar(bitPattern: byte)
            }
            return count
        }
        value.xSleep = { _, microseconds in microseconds }
        value.xCurrentTime = { _, time in
            time?.pointee = 2_461_000
            return SQLITE_OK
        }
        value.xGetLastError = { _, _, _ in errno }
        vfs.initialize(to: value)
        sqlite3_vfs_register(vfs, 1)
    }

    private static func open(
        _ path: String?, _ file: UnsafeMutablePointer<sqlite3_file>, _ flags: CInt
    ) -> CInt {
        file.pointee.pMethods = nil
        guard let disk = Self.disk else { return SQLITE_CANTOPEN }
        let path = path ?? "/sim/temporary-\(disk.calls)"
        do throws(SystemError) {
            try disk.call("open", path)
        } catch {
            errno = error.code
            return SQLITE_CANTOPEN
        }
        let parts = path.split(separator: "/")
        guard let name = parts.last.map(String.init),
            let directory = disk.node(parts.dropLast().joined(separator: "/"))
        else { return SQLITE_CANTOPEN }
        var isNew = false
        if directory.entries[name] == nil {
            guard flags & SQLITE_OPEN_CREATE != 0 else { return SQLITE_CANTOPEN }
            disk.change(directory, .add(name, SimulatedDisk.Node(isDirectory: false)))
            isNew = true
        }
        guard let node = directory.entries[name] else { return SQLITE_CANTOPEN }
        // Like SQLite's own VFS, which syncs a new log's directory entry with the log's first sync.
        let logs = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL
        let object = SQLiteFile(
            path, node, disk, unsynced: isNew && flags & logs != 0 ? directory : nil)
        let handle = UnsafeMutableRawPointer(file).assumingMemoryBound(to: SQLiteFileHandle.self)
        handle.pointee.object = Unmanaged.passRetained(object).toOpaque()
        file.pointee.pMethods = UnsafePointer(Self.methods)
        return SQLITE_OK
    }

    private static func remove(_ path: String) -> CInt {
        guard let disk = Self.disk else { return SQLiteError.delete }
        let parts = path.split(separator: "/")
        guard let name = parts.last.map(String.init),
            let directory = disk.node(parts.dropLast().joined(separator: "/"))
        else { return SQLiteError.delete }
        do throws(SystemError) {
            try disk.call("unlink", path)
        } catch {
            return SQLiteError.delete
        }
        guard directory.entries[name] != nil else { return SQLiteError.deleteNoEntry }
        disk.change(directory, .remove(name))
        return SQLITE_OK
    }
}

/// SQLite's extended error codes, which are macros in its header.
private enum SQLiteError {
    static let read = SQLITE_IOERR | 1 << 8
    static let shortRead = SQLITE_IOERR | 2 << 8
    static let write = SQLITE_IOERR | 3 << 8
    static let sync = SQLITE_IOERR | 4 << 8
    static let truncate = SQLITE_IOERR | 6 << 8
    static let delete = SQLITE_IOERR | 10 << 8
    static let deleteNoEntry = SQLITE_IOERR | 23 << 8
}

/// A file as SQLite sees it, with our part.
struct SQLiteFileHandle {
    var base = sqlite3_file()
    var object: UnsafeMutableRawPointer?
}

final class SQLiteFile {
    private let path: String
    private let node: SimulatedDisk.Node
    private let disk: SimulatedDisk
    private var unsynced: SimulatedDisk.Node?
    /// Shared memory; each file has a single connection.
    private var regions: [UnsafeMutableRawPointer] = []

    init(
        _ path: String, _ node: SimulatedDisk.Node, _ disk: SimulatedDisk,
        unsynced: SimulatedDisk.Node?
    ) {
        self.path = path
        self.node = node
        self.disk = disk
        self.unsynced = unsynced
    }

    deinit { self.unmap() }

    func read(_ buffer: UnsafeMutableRawPointer?, _ count: Int, _ offset: Int) -> CInt {
        if self.disk.isDead { return SQLiteError.read }
        let target = UnsafeMutableRawBufferPointer(start: buffer, count: count)
        let end = min(offset + count, self.node.bytes.count)
        if offset < end { target.copyBytes(from: self.node.bytes[offset..<end]) }
        guard end < offset + count else { return SQLITE_OK }
        for index in max(0, end - offset)..<count { target[index] = 0 }
        return SQLiteError.shortRead
    }

    func write(_ buffer: UnsafeRawPointer?, _ count: Int, _ offset: Int) -> CInt {
        let source = UnsafeRawBufferPointer(start: buffer, count: count)
        do throws(SystemError) {
            try self.disk.call("pwrite", self.path)
        } catch {
            errno = error.code
            return SQLiteError.write
        }
        let growth = offset + count - self.node.bytes.count
        if growth > 0, self.disk.faults.capacity != .max,
            growth > self.disk.faults.capacity - self.disk.usedBytes
        {
            self.disk.faults.note()
            return SQLITE_FULL
        }
        self.disk.write([UInt8](source)[...], to: self.node, at: offset)
        return SQLITE_OK
    }

    func sync() -> CInt {
        do throws(SystemError) {
            try self.disk.call("fdatasync", self.path)
        } catch {
            errno = error.code
            if !self.disk.isDead { self.disk.sync(self.node, fails: true) }
            return SQLiteError.sync
        }
        self.disk.sync(self.node)
        if let directory = self.unsynced { self.disk.syncEntries(directory) }
        self.unsynced = nil
        return SQLITE_OK
    }

    func truncate(_ count: Int) -> CInt {
        do throws(SystemError) {
            try self.disk.call("ftruncate", self.path)
        } catch {
            return SQLiteError.truncate
        }
        self.disk.truncate(self.node, to: count)
        return SQLITE_OK
    }

    var byteCount: Int { self.node.bytes.count }

    func region(_ index: Int, _ count: Int) -> UnsafeMutableRawPointer {
        while self.regions.count <= index {
            let region = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
            region.initializeMemory(as: UInt8.self, repeating: 0, count: count)
            self.regions.append(region)
        }
        return self.regions[index]
    }

    func unmap() {
        for region in self.regions { region.deallocate() }
        self.regions = []
    }
}

extension SQLiteDisk {
    fileprivate static func file(_ pointer: UnsafeMutablePointer<sqlite3_file>?) -> SQLiteFile? {
        guard let pointer else { return nil }
        let handle = UnsafeMutableRawPointer(pointer)
            .assumingMemoryBound(to: SQLiteFileHandle.self)
        return handle.pointee.object.map {
            Unmanaged<SQLiteFile>.fromOpaque($0).takeUnretainedValue()
        }
    }

    fileprivate static func makeMethods() -> sqlite3_io_methods {
        var methods = sqlite3_io_methods()
        methods.iVersion = 2
        methods.xClose = { pointer in
            guard let pointer else { return SQLITE_OK }
            let handle = UnsafeMutableRawPointer(pointer)
                .assumingMemoryBound(to: SQLiteFileHandle.self)
            if let object = handle.pointee.object {
                Unmanaged<SQLiteFile>.fromOpaque(object).release()
            }
            handle.pointee.object = nil
            return SQLITE_OK
        }
        methods.xRead = { SQLiteDisk.file($0)?.read($1, Int($2), Int($3)) ?? SQLITE_IOERR }
        methods.xWrite = { SQLiteDisk.file($0)?.write($1, Int($2), Int($3)) ?? SQLITE_IOERR }
        methods.xTruncate = { SQLiteDisk.file($0)?.truncate(Int($1)) ?? SQLITE_IOERR }
        methods.xSync = { file, _ in SQLiteDisk.file(file)?.sync() ?? SQLITE_IOERR }
        methods.xFileSize = { file, size in
            size?.pointee = sqlite3_int64(SQLiteDisk.file(file)?.byteCount ?? 0)
            return SQLITE_OK
        }
        methods.xLock = { _, _ in SQLITE_OK }
        methods.xUnlock = { _, _ in SQLITE_OK }
        methods.xCheckReservedLock = { _, result in
            result?.pointee = 0
            return SQLITE_OK
        }
        methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
        methods.xSectorSize = { _ in CInt(SimulatedDisk.sectorBytes) }
        // As SQLite's own VFS says it of any disk on Linux (sqlite.org/psow.html), and as it is
        // here: what shares a sector with a torn write stays. Otherwise SQLite would fill sectors
        // with copies of a frame, and after a sync that fails one of them may never be on disk.
        methods.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
        methods.xShmMap = { file, index, count, _, region in
            region?.pointee = SQLiteDisk.file(file)?.region(Int(index), Int(count))
            return SQLITE_OK
        }
        methods.xShmLock = { _, _, _, _ in SQLITE_OK }
        methods.xShmBarrier = { _ in }
        methods.xShmUnmap = { file, _ in
            SQLiteDisk.file(file)?.unmap()
            return SQLITE_OK
        }
        return methods
    }
}
