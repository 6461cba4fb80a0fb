/// The file system under the journal. The system's files implement it, and so does a simulated disk
/// that loses, tears and reorders unsynced writes. Its calls block.
package protocol FileSystem: Sendable {
    /// Opens a directory. A missing one is created (0700) with its parents, and their entries are
    /// synced before this returns.
    ///
    /// - Throws: `SystemError`.
    func directory(_ path: String) throws(SystemError) -> any Directory
}

/// An open directory, so that syncing it needs no further descriptor.
package protocol Directory: AnyObject {
    /// Its path.
    var path: String { get }

    /// The names of its entries, in any order.
    ///
    /// - Throws: `SystemError`.
    func names() throws(SystemError) -> [String]

    /// Opens a file for reading and writing; creates a missing one (0600). A new file's entry is
    /// durable after the next `sync`.
    ///
    /// - Throws: `SystemError`.
    func open(_ name: String) throws(SystemError) -> any OpenFile

    /// Renames a file, replacing any file of the new name.
    ///
    /// - Throws: `SystemError`.
    func rename(_ name: String, to newName: String) throws(SystemError)

    /// Removes a file.
    ///
    /// - Throws: `SystemError`.
    func remove(_ name: String) throws(SystemError)

    /// Waits until its entries are on disk.
    ///
    /// - Throws: `SystemError`.
    func sync() throws(SystemError)
}

/// An open file, closed when its last reference is released. Each method is one system call, and
/// may do less than requested.
package protocol OpenFile: AnyObject {
    /// Its path, for messages.
    var path: String { get }

    /// Its length in bytes.
    ///
    /// - Throws: `SystemError`.
    func size() throws(SystemError) -> Int

    /// Writes a prefix of the concatenated parts; returns its length in bytes.
    ///
    /// - Throws: `SystemError`; then nothing was written.
    func write(_ parts: ArraySlice<ArraySlice<UInt8>>, at offset: Int) throws(SystemError) -> Int

    /// Reads from `offset` into the start of a buffer; returns the number of bytes, 0 at the end of
    /// the file.
    ///
    /// - Throws: `SystemError`.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int

    /// Waits until all written bytes, and the length needed to read them, are on disk.
    ///
    /// - Throws: `SystemError`; then writes since the last sync may be lost, and a later successful
    ///   sync proves nothing.
    func sync() throws(SystemError)

    /// Allocates space for the first bytes of the file, extending the file to that length.
    ///
    /// - Throws: `SystemError`.
    func allocate(_ byteCount: Int) throws(SystemError)

    /// Shortens the file, or extends it with zeros.
    ///
    /// - Throws: `SystemError`.
    func truncate(to byteCount: Int) throws(SystemError)
}

extension OpenFile {
    /// Writes all parts, one after the other.
    ///
    /// - Throws: `SystemError`; a part may have been written.
    package func writeAll(_ parts: [ArraySlice<UInt8>], at start: Int) throws(SystemError) {
        var offset = start
        var left = parts.filter { !$0.isEmpty }[...]
        while !left.isEmpty {
            let count: Int
            do throws(SystemError) {
                count = try self.write(left, at: offset)
            } catch {
                if error.isInterruption { continue }
                throw error
            }
            offset += count
            left.removeFirst(bytes: count)
        }
    }

    /// Reads `count` bytes, or fewer at the end of the file.
    ///
    /// - Throws: `SystemError`.
    package func readAll(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let buffer = UnsafeMutableRawBufferPointer(buffer)
            do throws(SystemError) {
                filled = try self.readAll(into: buffer, at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Fills a buffer from `offset`, up to the end of the file; returns the number of bytes.
    private func readAll(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(SystemError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            do throws(SystemError) {
                let count = try self.read(into: rest, at: offset + filled)
                if count == 0 { return filled }
                filled += count
            } catch {
                if !error.isInterruption { throw error }
            }
        }
        return filled
    }
}

extension ArraySlice<ArraySlice<UInt8>> {
    /// Removes the first `bytes` bytes, and parts that become empty.
    fileprivate mutating func removeFirst(bytes: Int) {
        var bytes = bytes
        while let first = self.first, first.count <= bytes {
            bytes -= first.count
            self.removeFirst()
        }
        if bytes > 0 { self[self.startIndex].removeFirst(bytes) }
    }
}
