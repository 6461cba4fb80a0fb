// Where log lines go: whole, one after the other.
internal import Foundation
internal import Synchronization

/// A file descriptor that every handler of a process writes to.
package final class LogOutput: Sendable {
    /// Standard error.
    package static let standardError = LogOutput(fileDescriptor: STDERR_FILENO)

    private let fileDescriptor: Mutex<CInt>

    /// Writes to an open file descriptor, which stays its owner's.
    package init(fileDescriptor: CInt) { self.fileDescriptor = Mutex(fileDescriptor) }

    /// Writes a line by one call of write(2), and another only for what that left over: lines of
    /// one process never mix. Where nobody reads any more, the line is lost.
    func write(_ line: [UInt8]) {
        // A pipe takes 4 KiB at once whole, and a line may be longer: hence the lock.
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

    /// Waits as a blocking descriptor would: somebody else has made this one non-blocking.
    private static func waitUntilWritable(_ fileDescriptor: CInt) {
        var request = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
        poll(&request, 1, -1)
    }
}
