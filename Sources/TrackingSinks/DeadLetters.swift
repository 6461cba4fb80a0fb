// What a sink refused for good. Kept in a file of its own rather than in the journal's, which is
// locked while the service runs: these are for people to read.
internal import Foundation
internal import GRDB
package import Logging
internal import TrackingCore
package import TrackingJournal

/// Hits that were acked and that a sink will never take: kept with their reason, to be looked at
/// and replayed. At most `maxRows`; the oldest go first.
package final class DeadLetters: Sendable {
    let file: DataFile
    private let maxRows: Int

    /// Opens the file, creating it where it is missing. Where another program holds it each call
    /// tries to open it, and throws what SQLite says until it can.
    ///
    /// - Parameters:
    ///   - maxRows: rows kept at most. Default 100,000.
    ///   - busyTimeout: how long another program's lock is waited for, each time: a person may be
    ///     at it, or a server that has just ended be closing it.
    ///   - queue: the file is used on it; a simulation gives its own.
    ///   - logger: told where the file cannot be opened now.
    /// - Throws: `FileFormatError`, or what SQLite says where the file cannot be used.
    package init(
        path: String, maxRows: Int = 100_000, busyTimeout: Duration = .seconds(5),
        queue: any WorkQueue = DispatchWorkQueue("sightline.dead-letters"), logger: Logger? = nil
    ) throws {
        self.maxRows = maxRows
        self.file = try DataFile(
            path: path, format: Self.format, busyTimeout: busyTimeout, queue: queue,
            logger: logger)
    }

    /// Keeps the refused hits of a batch; a batch that comes again is kept once.
    ///
    /// - Throws: what SQLite says where they cannot be written.
    package func keep(_ hits: HitBatch, reasons: [Int: String], sink: String) async throws {
        let letters = try Self.letters(hits, reasons: reasons)
        try await self.insert(letters, sink, hits.journal, hits.sequence)
    }

    /// Keeps a batch whose checksum is wrong, whole.
    ///
    /// - Throws: what SQLite says where it cannot be written.
    package func keep(
        damaged batch: JournalBatch, of journal: String, sink: String
    ) async throws {
        try await self.insert([Letter(damaged: batch)], sink, journal, batch.sequence)
    }

    /// Keeps a batch that a sink cannot read: each hit that can be read as a letter of its own, to
    /// be replayed, and the rest of the bytes as one.
    ///
    /// - Returns: the number of letters.
    /// - Throws: what SQLite says where they cannot be written.
    package func keep(
        unreadable hits: HitBatch, reason: String, sink: String
    ) async throws -> Int {
        var letters: [Letter] = []
        let rest = hits.payload.withUnsafeBytes { payload in
            HitBlock.salvage(payload) { hit in
                letters.append(
                    try Letter(hit, position: letters.count, reason: "its batch: \(reason)"))
            }
        }
        if !rest.isEmpty { letters.append(Letter(unreadable: rest, reason: reason)) }
        try await self.insert(letters, sink, hits.journal, hits.sequence)
        return letters.count
    }

    private static func letters(_ hits: HitBatch, reasons: [Int: String]) throws -> [Letter] {
        var letters: [Letter] = []
        try hits.forEach { position, hit in
            guard let reason = reasons[position] else { return }
            do {
                letters.append(try Letter(hit, position: position, reason: reason))
            } catch {
                letters.append(Letter(eventOf: hit, position: position, reason: reason))
            }
        }
        return letters
    }

    private func insert(
        _ letters: [Letter], _ sink: String, _ journal: String, _ sequence: Int64
    ) async throws {
        let maxRows = self.maxRows
        let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
        try await self.file.write { database in
            for letter in letters {
                try database.execute(
                    sql: Self.insertion,
                    arguments: [
                        "journal": journal, "sink": sink, "sequence": sequence,
                        "position": letter.position, "hitID": letter.hitID,
                        "reason": letter.reason, "tenant": letter.tenant, "time": now,
                        "record": letter.record,
                    ])
            }
            try database.execute(
                sql: """
                    DELETE FROM dead_letters WHERE rowid IN (
                        SELECT rowid FROM dead_letters ORDER BY rowid
                        LIMIT max(0, (SELECT count(*) FROM dead_letters) - ?))
                    """, arguments: [maxRows])
        }
    }
}
