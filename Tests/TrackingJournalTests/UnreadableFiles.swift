// The system's files with sectors that cannot be read.
internal import Foundation
@testable internal import Storage
internal import Synchronization
@testable internal import TrackingJournal

/// Local files in which marked ranges cannot be read (EIO).
final class UnreadableFiles: FileSystem {
    private let marks = Mutex<[String: (bytes: Range<Int>, error: CInt)]>([:])

    /// Makes a range of the named file unreadable: for ever (EIO), or for a reason that may pass.
    func mark(_ name: String, _ bytes: Range<Int>, _ error: CInt = EIO) {
        self.marks.withLock { $0[name] = (bytes, error) }
    }

    fileprivate func check(_ name: String, _ path: String, _ bytes: Range<Int>) throws(SystemError)
    {
        let mark = self.marks.withLock { $0[name] }
        if let mark, mark.bytes.overlaps(bytes) { throw SystemError("pread", path, mark.error) }
    }

    func directory(_ path: String) throws(SystemError) -> any Directory {
        MarkedDirectory(directory: try LocalFileSystem().directory(path), files: self)
    }
}

private final class MarkedDirectory: Directory {
    private let directory: any Directory
    private let files: UnreadableFiles

    init(directory: any Directory, files: UnreadableFiles) {
        self.directory = directory
        self.files = files
    }

    var path: String { self.directory.path }

    func names() throws(SystemError) -> [String] { try self.directory.names() }

    func open(_ name: String) throws(SystemError) -> any OpenFile {
        MarkedFile(file: try self.directory.open(name), name: name, files: self.files)
    }

    func rename(_ name: String, to newName: String) throws(SystemError) {
        try self.directory.rename(name, to: newName)
    }

    func remove(_ name: String) throws(SystemError) { try self.directory.remove(name) }

    func sync() throws(SystemError) { try self.directory.sync() }
}

private final class MarkedFile: OpenFile {
    private let file: any OpenFile
    private let name: String
    private let files: UnreadableFiles

    init(file: any OpenFile, name: String, files: UnreadableFiles) {
        self.file = file
        self.name = name
        self.files = files
    }

    var path: String { self.file.path }

    func size() throws(SystemError) -> Int { try self.file.size() }

    func write(_ parts: ArraySlice<ArraySlice<UInt8>>, at offset: Int) throws(SystemError) -> Int {
        try self.file.write(parts, at: offset)
    }

    func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemError) -> Int {
        try self.files.check(self.name, self.path, offset..<offset + buffer.count)
        return try self.file.read(into: buffer, at: offset)
    }

    func sync() throws(SystemError) { try self.file.sync() }

    func allocate(_ byteCount: Int) throws(SystemError) { try self.file.allocate(byteCount) }

    func truncate(to byteCount: Int) throws(SystemError) {
        try self.file.truncate(to: byteCount)
    }
}
