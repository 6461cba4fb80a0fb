internal import FileSinks
internal import Foundation
internal import SQLiteSink
internal import SinkKit

/// Archives of hits, which the sink jsonl writes. The sink sqlite counts them, so that a report of
/// them has the same rules; a hit that is there twice counts once.
struct HitArchive {
    private let sink: SQLiteSink
    private var sequence: Int64 = 0

    /// Writes hits.db in a directory.
    ///
    /// - Throws: `FileReadError`, `InputError` for what the sink jsonl does not write, or SQLite's
    ///   error.
    static func write(_ files: [String], into directory: String) async throws {
        try InputFile.check(files)
        var configuration = SQLiteConfiguration()
        // Old hits stay, and count once however far they are from each other.
        configuration.retainDays = 0
        configuration.maxBytes = 0
        configuration.uniqueDays = 3650
        var archive = HitArchive(
            sink: try SQLiteSink(path: "\(directory)/\(HitRow.fileName)", configuration))
        for file in files { try await archive.add(file) }
    }

    private init(sink: SQLiteSink) { self.sink = sink }

    private mutating func add(_ file: String) async throws {
        do {
            let hits =
                try file == "-"
                ? ArchivedHits(descriptor: STDIN_FILENO, name: file) : ArchivedHits(path: file)
            while let page = try await hits.page() {
                guard page.unreadable == 0 else {
                    throw InputError(
                        file: file,
                        reason: "\(page.unreadable) of its lines are no hit in JSON: name files of "
                            + "the sink jsonl, those that are compressed with .zst at the end")
                }
                if !page.payload.isEmpty { try await self.deliver(page.payload) }
            }
        } catch let error as ArchiveError {
            throw InputError(file: file, reason: error.reason)
        }
    }

    private mutating func deliver(_ payload: [UInt8]) async throws {
        self.sequence += 1
        let batch = HitBatch(journal: "archive", sequence: self.sequence, payload: payload)
        let answer = await self.sink.deliver(batch)
        guard answer == .delivered else {
            throw DatabaseFileError.unreadable(
                path: HitRow.fileName, reason: "the temporary file takes no hits: \(answer)")
        }
    }
}
