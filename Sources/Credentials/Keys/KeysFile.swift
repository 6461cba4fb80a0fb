// The file of API keys: an object of JSON on each line, so that a tool can read it and a person can
// compare it. It is only ever replaced as a whole.
internal import Foundation

/// The keys file at a path.
package struct KeysFile: Sendable {
    /// Bytes that a file may have: some 50,000 keys.
    static let maxBytes = 16 << 20

    /// Where it is.
    package let path: String

    /// The file at `path`, which need not be there yet.
    package init(path: String) { self.path = path }

    /// Its keys, in order.
    ///
    /// - Throws: `UnusableFileError` where it cannot be read or a line is no key.
    package func records() throws -> [KeyRecord] {
        let data = try ReadableFile.read(self.path, maxBytes: Self.maxBytes)
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        var records: [KeyRecord] = []
        var ids: Set<String> = []
        for (index, line) in data.split(separator: 0x0a, omittingEmptySubsequences: false)
            .enumerated() where !line.isEmpty
        {
            // What the decoder says could hold a part of the line.
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

    /// Changes the file: reads it, lets `body` change its keys, and replaces it, all under a lock
    /// that other commands take too. What is there after a crash is the old file or the new one.
    ///
    /// - Throws: `UnusableFileError`, or what `body` throws: nothing is changed then.
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

    /// Writes a new file beside it, syncs it, and puts it in its place.
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
        // The new name has to be on disk too, or a crash brings a revoked key back.
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
