// What a sink refused for good. Kept in a file of its own rather than in the journal's, which is
// locked while the service runs: these are for people to read.
internal import Foundation
internal import GRDB
package import TrackingJournal
internal import TrackingCore

/// Hits that were acked and that a sink will never take: kept with their reason, to be looked at
/// and replayed. At most `maxRows`; the oldest go first.
package final class DeadLetters: Sendable {
    let database: DatabaseQueue
    private let maxRows: Int

    /// Opens the file, creating it where it is missing.
    ///
    /// - Parameter maxRows: rows kept at most. Default 100,000.
    /// - Throws: what SQLite says where the file cannot be used.
    package init(path: String, maxRows: Int = 100_000) throws {
        self.maxRows = maxRows
        var configuration = Configuration()
        // A person may be at it, or a server that has just ended be closing it.
        configuration.busyMode = .timeout(5)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA journal_mode = WAL;
                    PRAGMA synchronous = FULL;
                    CREATE TABLE IF NOT EXISTS dead_letters (
                        sink TEXT NOT NULL, sequence INTEGER NOT NULL, position INTEGER NOT NULL,
                        hit_id BLOB, reason TEXT NOT NULL, tenant TEXT,
                        refused_time INTEGER NOT NULL, record BLOB NOT NULL,
                        UNIQUE (sink, sequence, position));
                    """)
        }
        self.database = database
    }

    /// Keeps the refused hits of a batch; a batch that comes again is kept once.
    ///
    /// - Throws: what SQLite says where they cannot be written.
    package func keep(_ hits: HitBatch, reasons: [Int: String], sink: String) async throws {
        let letters = try Self.letters(hits, reasons: reasons)
        try await self.insert(letters, sink: sink, sequence: hits.sequence)
    }

    /// Keeps a batch whose checksum is wrong, whole.
    ///
    /// - Throws: what SQLite says where it cannot be written.
    package func keep(damaged batch: JournalBatch, sink: String) async throws {
        let letter = Letter(damaged: batch)
        try await self.insert([letter], sink: sink, sequence: batch.sequence)
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
        try await self.insert(letters, sink: sink, sequence: hits.sequence)
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

    private func insert(_ letters: [Letter], sink: String, sequence: Int64) async throws {
        let maxRows = self.maxRows
        let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
        try await self.database.write { database in
            for letter in letters {
                try database.execute(
                    sql: "INSERT OR IGNORE INTO dead_letters VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    arguments: [
                        sink, sequence, letter.position, letter.hitID, letter.reason,
                        letter.tenant, now, letter.record,
                    ])
            }
            try database.execute(
                sql: """
                    DELETE FROM dead_letters WHERE rowid <=
                        (SELECT max(rowid) FROM dead_letters) - ?
                    """, arguments: [maxRows])
        }
    }
}
