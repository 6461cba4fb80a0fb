package import Foundation

/// Reads the files that an operator writes, with a limit on their size.
package enum ReadableFile {
    /// The contents of a regular file of at most `maxBytes`.
    ///
    /// - Throws: `UnusableFileError` with the path and none of the contents.
    package static func read(_ path: String, maxBytes: Int) throws -> Data {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw UnusableFileError(
                description: "\(path) cannot be read: see that it is there and that the server "
                    + "may read it")
        }
        // The file was only read, so a failed close loses nothing.
        defer { try? handle.close() }
        return try Self.read(handle, path, maxBytes: maxBytes)
    }

    /// The contents of an open file, whose `path` is for errors alone.
    static func read(_ handle: FileHandle, _ path: String, maxBytes: Int) throws -> Data {
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
