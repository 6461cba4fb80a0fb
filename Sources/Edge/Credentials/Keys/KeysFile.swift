internal import Foundation

/// The file of API keys, a JSON object per line, so that tools can read it and people can diff it.
/// It is always replaced atomically.
package struct KeysFile: Sendable {
    /// The maximum bytes of a file: some 50,000 keys.
    static let maxBytes = 16 << 20

    /// The file's path.
    package let path: String

    /// Creates a reference to the file, which need not exist yet.
    package init(path: String) { self.path = path }

    /// The keys, in the order of the file.
    ///
    /// - Throws: `UnusableFileError` if it cannot be read or a line is malformed.
    package func records() throws -> [KeyRecord] {
        let data = try ReadableFile.read(self.path, maxBytes: Self.maxBytes)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        var records: [KeyRecord] = []
        var ids: Set<String> = []
        for (index, line) in data.split(separator: 0x0a, omittingEmptySubsequences: false)
            .enumerated() where !line.isEmpty
        {
            // The decoder's message might quote the line.
            guard let record = try? decoder.decode(KeyRecord.self, from: Data(line)),
                record.digest != nil, Tenant(record.tenant) != nil
            else {
                throw UnusableFileError(
                    description: "\(self.path):\(index + 1) is no API key: restore the line, or "
                        + "remove it and make a new key with `sightline keys new`")
            }
            guard ids.insert(record.id).inserted else {
                throw UnusableFileError(
                    description: "\(self.path):\(index + 1) has the id \(record.id), which stands "
                        + "above already: remove one of the two")
            }
            records.append(record)
        }
        return records
    }

    /// Updates the file: reads it, lets `body` change the records and replaces it, under a lock
    /// that other commands take too. A crash leaves the old file or the new one.
    ///
    /// - Throws: `Failure`, or an error of `body`; then nothing is changed.
    package func update<Value>(_ body: (inout [KeyRecord]) throws -> Value) throws -> Value {
        let lock = open(self.path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw self.failure("locked") }
        defer { close(lock) }
        let exists = access(self.path, F_OK) == 0
        var records = exists ? try self.records() : []
        let value = try body(&records)
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var data = Data()
        for record in records {
            data.append(try encoder.encode(record))
            data.append(0x0a)
        }
        try self.replace(with: data)
        return value
    }

    /// Writes and syncs a new file, then renames it over the old one.
    private func replace(with data: Data) throws {
        let temporary = self.path + ".new"
        _ = unlink(temporary)
        let file = open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw self.failure("written") }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: data)
            guard fsync(file) == 0, rename(temporary, self.path) == 0 else {
                throw self.failure("written")
            }
        } catch {
            _ = unlink(temporary)
            throw self.failure("written")
        }
        // Sync the rename too, or a power cut could restore a revoked key.
        let folder = (self.path as NSString).deletingLastPathComponent
        let directory = open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw self.failure("synced") }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw self.failure("synced") }
    }

    private func failure(_ what: String) -> UnusableFileError {
        let reason = String(cString: strerror(errno))
        return UnusableFileError(
            description: "\(self.path) cannot be \(what): \(reason); see that its directory is "
                + "there and yours")
    }
}
