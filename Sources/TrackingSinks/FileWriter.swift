// Writing all of some bytes to a descriptor.
internal import Glibc

/// A failed write.
struct WriteError: Error, CustomStringConvertible {
    let number: CInt
    var description: String { "cannot write: \(String(cString: strerror(self.number)))" }
}

/// Writes to file descriptors.
enum FileWriter {
    /// Writes all of `bytes`.
    ///
    /// - Throws: `WriteError`; some of the bytes may have been written then.
    static func write(_ bytes: [UInt8], to descriptor: CInt) throws(WriteError) {
        var offset = 0
        while offset < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                Glibc.write(
                    descriptor, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
            }
            if written >= 0 {
                offset += written
            } else if errno != EINTR {
                throw WriteError(number: errno)
            }
        }
    }
}
