// Files that an operator writes, read whole and bounded.
package import Foundation

/// Reads a file.
package enum ReadableFile {
    /// The bytes of a regular file, `maxBytes` at most.
    ///
    /// - Throws: `UnusableFileError`, which names the path and no content.
    package static func read(_ path: String, maxBytes: Int) throws -> Data {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw UnusableFileError(
                description: "\(path) cannot be read: see that it is there and that the server "
                    + "may read it")
        }
        // Closed twice at worst, and there is nothing to do about it.
        defer { try? handle.close() }
        let data: Data
        do {
            data = try handle.read(upToCount: maxBytes + 1) ?? Data()
        } catch {
            throw UnusableFileError(description: "\(path) cannot be read: is it a file?")
        }
        guard data.count <= maxBytes else {
            throw UnusableFileError(
                description: "\(path) has more than \(maxBytes) bytes, which is the limit")
        }
        return data
    }
}
