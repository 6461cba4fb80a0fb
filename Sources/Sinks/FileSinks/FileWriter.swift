internal import Glibc
internal import WireFormat

/// A failed call on a file.
struct WriteError: Error, CustomStringConvertible {
    let number: CInt
    var action = "write"
    var description: String {
        "cannot \(self.action): \(String(cString: strerror(self.number)))"
    }
}

enum FileWriter {
    /// Writes all of `bytes`.
    ///
    /// - Throws: `WriteError`; a part of the bytes may have been written.
    static func write(_ bytes: Bytes, to descriptor: CInt) throws(WriteError) {
        var offset = 0
        while offset < bytes.count {
            let written = Glibc.write(
                descriptor, bytes.baseAddress?.advanced(by: offset), bytes.count - offset)
            if written >= 0 {
                offset += written
            } else if errno != EINTR {
                throw WriteError(number: errno)
            }
        }
    }
}
