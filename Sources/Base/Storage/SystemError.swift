internal import Glibc

/// A failed system call.
package struct SystemError: Error, CustomStringConvertible {
    /// The call's name, such as `pwritev`.
    package let call: String
    /// The path of the file or directory.
    package let path: String
    /// The value of `errno`.
    package let code: CInt

    /// Creates an error, with the current `errno` by default.
    package init(_ call: String, _ path: String, _ code: CInt = errno) {
        self.code = code
        self.call = call
        self.path = path
    }

    /// Whether there was no room on the disk, in memory or for another descriptor, which may be
    /// temporary. A failed sync is never treated as a full disk: its data may already be lost.
    package var isNoRoom: Bool {
        Self.noRoom.contains(self.code) && self.call != "fdatasync" && self.call != "fsync"
    }

    /// The `errno` values that mean "no room".
    package static let noRoom: Set<CInt> = [ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM]

    /// Whether the limit of open descriptors was reached.
    package var isNoDescriptor: Bool { self.code == EMFILE || self.code == ENFILE }

    /// Whether a signal interrupted the call before it did anything.
    var isInterruption: Bool { self.code == EINTR }

    /// Whether the disk failed to read or write these bytes.
    package var isUnreadable: Bool { self.code == EIO }

    /// The call, the path and the system's message.
    package var description: String {
        "\(self.call) of \(self.path): \(String(cString: strerror(self.code)))"
    }
}
