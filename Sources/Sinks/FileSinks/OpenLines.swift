internal import Foundation
internal import Glibc

/// A file by its device and inode.
struct FileID: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
}

/// A file of lines that is open for an erasure.
final class OpenLines: Sendable {
    /// What it stays known by.
    let id: FileID
    /// Its size when it was opened.
    private let size: Int
    private let descriptor: CInt

    /// Opens a file; nil if it is not there.
    init?(opening path: String) throws(WriteError) {
        let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw WriteError(number: errno, action: "open \(path)") }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let number = errno
            close(descriptor)
            throw WriteError(number: number, action: "open \(path)")
        }
        self.id = FileID(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        self.size = Int(status.st_size)
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    /// Reads bytes that were there when the file was opened. Fewer than `count` are its last ones.
    func read(from offset: Int, upTo count: Int) throws(WriteError) -> Data {
        let count = min(count, max(0, self.size - offset))
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let read = bytes.withUnsafeMutableBytes { buffer in
                pread(
                    self.descriptor, buffer.baseAddress?.advanced(by: filled), count - filled,
                    offset + filled)
            }
            if read == 0 { break }
            if read > 0 {
                filled += read
            } else if errno != EINTR {
                throw WriteError(number: errno, action: "read")
            }
        }
        return Data(bytes.prefix(filled))
    }

    /// Writes bytes over others.
    func write(_ bytes: [UInt8], at offset: Int) throws(WriteError) {
        guard pwrite(self.descriptor, bytes, bytes.count, offset) == bytes.count else {
            throw WriteError(number: errno)
        }
    }

    /// Waits until what was written is on disk.
    func sync() throws(WriteError) {
        guard fdatasync(self.descriptor) == 0 else { throw WriteError(number: errno) }
    }
}
