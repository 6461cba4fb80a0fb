internal import Foundation
internal import Glibc
internal import TrackingCore

/// The file of the jsonl sink that batches are appended to.
struct JSONLinesFile: ~Copyable {
    let number: Int
    /// The bytes of whole batches.
    private(set) var size: Int
    private let descriptor: CInt
    /// Whether a part of a failed append may stand behind `size`.
    private var mayHaveRest = false

    /// Opens a file, or creates it and syncs its name.
    init(_ number: Int, in directory: JSONLinesDirectory) throws(WriteError) {
        let descriptor = Glibc.open(
            directory.path(of: number), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw WriteError(number: errno) }
        do {
            try directory.sync()
        } catch {
            close(descriptor)
            throw error
        }
        self.number = number
        self.size = Int(lseek(descriptor, 0, SEEK_END))
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    /// Appends all lines and syncs them, or none: what a failure leaves is cut off at once, or else
    /// before the next append.
    mutating func append(_ lines: Bytes) throws {
        try self.cutRest()
        self.mayHaveRest = true
        do {
            try FileWriter.write(lines, to: self.descriptor)
            guard fdatasync(self.descriptor) == 0 else { throw WriteError(number: errno) }
            self.size += lines.count
            self.mayHaveRest = false
        } catch {
            // The next append tries it again.
            try? self.cutRest()
            throw error
        }
    }

    private mutating func cutRest() throws(WriteError) {
        guard self.mayHaveRest else { return }
        guard ftruncate(self.descriptor, self.size) == 0 else {
            throw WriteError(number: errno, action: "truncate")
        }
        self.mayHaveRest = false
    }

    /// Removes an incomplete last line. It was not delivered, so the batch comes again.
    static func dropUnfinishedLine(of path: String) throws {
        guard let file = FileHandle(forUpdatingAtPath: path) else { return }
        defer { try? file.close() }  // What was written through it is synced.
        var end = try file.seekToEnd()
        while end > 0 {
            let start = end > 65536 ? end - 65536 : 0
            try file.seek(toOffset: start)
            let block = try file.read(upToCount: Int(end - start)) ?? Data()
            if let newline = block.lastIndex(of: UInt8(ascii: "\n")) {
                end = start + UInt64(newline - block.startIndex) + 1
                break
            }
            end = start
        }
        try file.truncate(atOffset: end)
        // Otherwise the half line may be back after a power cut, and then in a full file.
        try file.synchronize()
    }
}
