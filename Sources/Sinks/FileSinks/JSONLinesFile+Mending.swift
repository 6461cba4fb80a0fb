// What a crash leaves at the end of a file, and what the sink makes of it at its start.

internal import Foundation
internal import Glibc

extension JSONLinesFile {
    /// Cuts off an append that a crash has left incomplete. It was not delivered, so the batch
    /// comes again.
    ///
    /// - Returns: why nothing may be appended to the file, which is then as it was; nil if it may.
    /// - Throws: the file system's error; `ZstdError` if there is no memory.
    static func mend(
        _ file: JSONLinesDirectory.File, in directory: JSONLinesDirectory
    ) throws -> String? {
        let path = directory.path(of: file)
        switch file.compression {
        case .none:
            try Self.dropUnfinishedLine(of: path)
            return nil
        case .zstd: return try Self.dropUnfinishedFrame(of: path)
        }
    }

    /// Removes an incomplete last line. It was not delivered, so the batch comes again.
    private static func dropUnfinishedLine(of path: String) throws {
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

    /// Removes an incomplete last frame, unless something speaks against it.
    private static func dropUnfinishedFrame(of path: String) throws -> String? {
        let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw WriteError(number: errno, action: "open \(path)") }
        defer { close(descriptor) }
        let size = Int(lseek(descriptor, 0, SEEK_END))
        var frames = ZstdFrames(of: descriptor, size: size)
        switch try frames.tail() {
        case .unknown(let offset, let reason): return "\(reason) at byte \(offset)"
        case .whole: break
        case .torn(let offset):
            guard ftruncate(descriptor, offset) == 0 else {
                throw WriteError(number: errno, action: "truncate \(path)")
            }
        }
        guard fsync(descriptor) == 0 else { throw WriteError(number: errno) }
        return nil
    }
}
