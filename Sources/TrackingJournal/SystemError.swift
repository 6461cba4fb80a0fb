// What the system says when a file cannot be used.
internal import Glibc

/// A call that failed.
struct SystemError: Error, CustomStringConvertible {
    /// Its name, such as `pwritev`.
    let call: String
    let path: String
    /// `errno` as it left it.
    let code: CInt

    init(_ call: String, _ path: String, _ code: CInt = errno) {
        self.code = code
        self.call = call
        self.path = path
    }

    /// Whether there was no room. A sync that says so has failed like any other: what it should
    /// have written may be lost.
    var isDiskFull: Bool {
        (self.code == ENOSPC || self.code == EDQUOT) && self.call != "fdatasync"
    }

    var description: String {
        "\(self.call) of \(self.path): \(String(cString: strerror(self.code)))"
    }
}
