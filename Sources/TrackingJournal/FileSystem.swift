// The seam between the journal and the disk: the same code runs on the system's files, and on a
// seeded disk in memory that loses, tears and reorders what was not synced.

/// What keeps files. Its calls block.
package protocol FileSystem: Sendable {
    /// Opens a directory. One that is missing is made (0700) with its parents, and its entry and
    /// theirs are on disk when this returns.
    ///
    /// - Throws: `SystemError`.
    func directory(_ path: String) throws(SystemError) -> any Directory
}

/// An open directory: to sync it takes no further descriptor.
package protocol Directory: AnyObject {
    /// Its path.
    var path: String { get }

    /// Names of what is in it, in any order.
    ///
    /// - Throws: `SystemError`.
    func names() throws(SystemError) -> [String]

    /// Opens a file for reading and writing; one that is missing is made (0600). The entry of a
    /// new file is on disk once the directory was synced.
    ///
    /// - Throws: `SystemError`.
    func open(_ name: String) throws(SystemError) -> any OpenFile

    /// Gives a file another name; one that had it is replaced.
    ///
    /// - Throws: `SystemError`.
    func rename(_ name: String, to newName: String) throws(SystemError)

    /// Removes a file.
    ///
    /// - Throws: `SystemError`.
    func remove(_ name: String) throws(SystemError)

    /// Returns once its entries are on disk.
    ///
    /// - Throws: `SystemError`.
    func sync() throws(SystemError)
}

/// An open file. Each function is one call of the system, which may do less than it was asked for;
/// it is closed with its last reference.
package protocol OpenFile: AnyObject {
    /// Its path, for messages.
    var path: String { get }

    /// Its length in bytes.
    ///
    /// - Throws: `SystemError`.
    func size() throws(SystemError) -> Int

    /// Writes the first bytes of some parts, one after the other; returns how many.
    ///
    /// - Throws: `SystemError`; nothing was written then.
    func write(_ parts: ArraySlice<ArraySlice<UInt8>>, at offset: Int) throws(SystemError) -> Int

    /// Fills the start of a buffer with what stands at an offset; returns how many bytes, 0 at the
    /// end of the file.
    ///
    /// - Throws: `SystemError`.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int

    /// Returns once all that was written is on disk, with the length that is needed to read it.
    ///
    /// - Throws: `SystemError`: what was written since the last sync may be lost, and a later sync
    ///   proves nothing.
    func sync() throws(SystemError)

    /// Gets space for the first bytes of the file, which is at least so long afterwards.
    ///
    /// - Throws: `SystemError`.
    func allocate(_ byteCount: Int) throws(SystemError)

    /// Cuts the file off, or fills it up with zeros.
    ///
    /// - Throws: `SystemError`.
    func truncate(to byteCount: Int) throws(SystemError)
}

extension OpenFile {
    /// Writes all of some parts, one after the other.
    ///
    /// - Throws: `SystemError`; some of it may have been written.
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

    /// Reads `count` bytes, fewer where the file ends before.
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

    /// Fills a buffer with what stands at an offset, up to the end of the file; returns how many
    /// bytes.
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
    /// Removes the first `bytes` bytes of the parts, and every part that is empty then.
    fileprivate mutating func removeFirst(bytes: Int) {
        var bytes = bytes
        while let first = self.first, first.count <= bytes {
            bytes -= first.count
            self.removeFirst()
        }
        if bytes > 0 { self[self.startIndex].removeFirst(bytes) }
    }
}
