internal import Foundation
internal import Synchronization

/// A file descriptor that all log handlers of the process share.
package final class LogOutput: Sendable {
    /// Standard error.
    package static let standardError = LogOutput(fileDescriptor: STDERR_FILENO)

    private let fileDescriptor: Mutex<CInt>

    /// Writes to an open file descriptor, which the caller keeps open and closes.
    package init(fileDescriptor: CInt) { self.fileDescriptor = Mutex(fileDescriptor) }

    /// Writes a line, with further write(2) calls for the rest after a partial write. Lines never
    /// mix. If the reader has gone, the line is dropped.
    func write(_ line: [UInt8]) {
        // A pipe is atomic only up to 4 KiB, which a line may exceed: hence the lock.
        self.fileDescriptor.withLock { fileDescriptor in
            line.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let part = UnsafeRawBufferPointer(rebasing: rest)
                    let count = Foundation.write(fileDescriptor, part.baseAddress, part.count)
                    if count > 0 {
                        rest = rest.dropFirst(count)
                    } else if errno == EAGAIN {
                        Self.waitUntilWritable(fileDescriptor)
                    } else if errno != EINTR {
                        return
                    }
                }
            }
        }
    }

    /// Blocks until writable: another process may have made the descriptor non-blocking.
    private static func waitUntilWritable(_ fileDescriptor: CInt) {
        var request = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
        poll(&request, 1, -1)
    }
}
