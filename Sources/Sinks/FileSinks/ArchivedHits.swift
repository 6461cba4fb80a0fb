internal import Pacing
package import SinkKit

/// The hits in a file of the jsonl sink, plain or compressed, page by page for a replay. Reads as
/// much as the file had when it was opened: the replay may append to it.
package actor ArchivedHits {
    /// The maximum number of lines in a page, hits or not.
    static let maxLines = 1000
    /// A page ends with the line that reaches so many bytes, of a hit or of what is none.
    static let pageBytes = 1 << 20
    /// The maximum bytes of a line: the largest event (512 KiB) with its ids, each byte escaped,
    /// takes 6 MiB.
    static let maxLineBytes = 8 << 20
    private static let pieceBytes = 128 << 10

    /// Reading files blocks.
    private let executor = QueueExecutor(label: "sightline.archive")
    /// A queue of its own.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        self.executor.asUnownedSerialExecutor()
    }
    private let path: String
    private var text: ArchivedText
    /// Text that has been read; lines before `start` have been taken from it.
    private var lines: [UInt8] = []
    private var start = 0
    private var pages: Int64 = 0

    /// Opens a file; nothing is read yet. It is decompressed if its name ends with `.zst`.
    ///
    /// - Throws: `ArchiveError`.
    package init(path: String) throws {
        self.path = path
        do {
            self.text = try ArchivedText(path: path)
        } catch {
            throw ArchiveError(path: path, reason: "\(error)")
        }
    }

    /// Reads an open file or pipe to its end; its text is plain.
    ///
    /// - Parameter name: what errors call it.
    /// - Throws: `ArchiveError`.
    package init(descriptor: CInt, name: String) throws {
        self.path = name
        do {
            self.text = try ArchivedText(copyOf: descriptor)
        } catch {
            throw ArchiveError(path: name, reason: "\(error)")
        }
    }

    /// The next hits, of which a page of empty lines has none; nil at the end. Other lines that are
    /// no hit are counted in their page, except for what stands at the end without a line's end: a
    /// crash has left it, or it is being written.
    ///
    /// - Throws: `ArchiveError`.
    package func page() throws -> HitPage? {
        do {
            var payload: [UInt8] = []
            var (lines, bytes, unreadable) = (0, 0, 0)
            while lines < Self.maxLines, bytes < Self.pageBytes, let line = try self.line() {
                lines += 1
                if let hit = KeptRecord.payload(ofLine: line.bytes) {
                    payload += hit
                    bytes += hit.count
                    continue
                }
                bytes += line.bytes.count
                if line.isWhole, !line.bytes.isEmpty { unreadable += 1 }
            }
            guard lines > 0 else { return nil }
            self.pages += 1
            return HitPage(payload: payload, last: self.pages, unreadable: unreadable)
        } catch {
            throw ArchiveError(path: self.path, reason: "\(error)")
        }
    }

    /// The next line; nil at the end.
    private func line() throws -> (bytes: [UInt8], isWhole: Bool)? {
        var searched = self.start
        while true {
            if let end = self.lines[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(self.lines[self.start..<end])
                self.start = end + 1
                guard line.count <= Self.maxLineBytes else { throw ArchivedText.Failure.longLine }
                return (line, true)
            }
            self.lines.removeSubrange(..<self.start)
            self.start = 0
            searched = self.lines.count
            guard searched <= Self.maxLineBytes else { throw ArchivedText.Failure.longLine }
            guard try self.text.append(to: &self.lines, atMost: Self.pieceBytes) else { break }
        }
        guard !self.lines.isEmpty else { return nil }
        defer { self.lines = [] }
        return (self.lines, false)
    }
}

/// Why a file of hits cannot be read.
package struct ArchiveError: Error, CustomStringConvertible {
    let path: String
    /// What is wrong, without the file's name.
    package let reason: String

    /// What is wrong, and the fix.
    package var description: String {
        "\(self.path) cannot be read: \(self.reason). Name files of the sink jsonl that the "
            + "server's user may read"
    }
}
