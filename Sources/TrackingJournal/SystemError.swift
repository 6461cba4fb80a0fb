// What the system says when a file cannot be used.
internal import Glibc

/// A call that failed.
package struct SystemError: Error, CustomStringConvertible {
    /// Its name, such as `pwritev`.
    package let call: String
    /// The file or directory.
    package let path: String
    /// `errno` as it left it.
    package let code: CInt

    /// A call's failure; the code is the present `errno` where none is given.
    package init(_ call: String, _ path: String, _ code: CInt = errno) {
        self.code = code
        self.call = call
        self.path = path
    }

    /// Whether there was no room: on the disk, in memory, or for another descriptor. It passes by
    /// itself. A sync that says so has failed like any other: what it should have written may be
    /// lost.
    var isNoRoom: Bool {
        Self.noRoom.contains(self.code) && self.call != "fdatasync" && self.call != "fsync"
    }

    /// The codes that mean that there is no room.
    static let noRoom: Set<CInt> = [ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM]

    /// Whether there was no descriptor left.
    var isNoDescriptor: Bool { self.code == EMFILE || self.code == ENFILE }

    /// Whether a signal came before anything was done.
    var isInterruption: Bool { self.code == EINTR }

    /// Whether the disk could not give or take what stands at this place.
    var isUnreadable: Bool { self.code == EIO }

    /// The call, the path and what the system says.
    package var description: String {
        "\(self.call) of \(self.path): \(String(cString: strerror(self.code)))"
    }
}
