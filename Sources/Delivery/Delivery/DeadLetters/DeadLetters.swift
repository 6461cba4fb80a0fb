internal import Foundation
internal import GRDB
package import Logging
package import SinkKit
package import Storage
package import TrackingJournal
package import TrackingRules

/// Stores acknowledged hits that a sink rejected permanently, with the reason, for inspection and
/// replay. At most `maxRows`; the oldest of the tenant that has most are deleted first. A file
/// apart from the journal's, which is locked while the server runs.
package final class DeadLetters: Sendable {
    let file: DataFile
    private let maxRows: Int
    let forgotten: ForgottenSubjects

    /// Opens the file, creating it if missing. While another program has locked it, every call
    /// tries to open it and throws SQLite's error.
    ///
    /// - Parameters:
    ///   - maxRows: the maximum number of rows. Default 100,000.
    ///   - busyTimeout: how long each call waits for another program's lock, such as that of a
    ///     person's shell, or of an ending server.
    ///   - queue: the queue for blocking calls; a simulation passes its own.
    ///   - forgotten: whose hits are stored without their subject.
    ///   - logger: warns if the file cannot be opened yet.
    /// - Throws: `FileFormatError`, or SQLite's error if the file is unusable.
    package init(
        path: String, maxRows: Int = 100_000, busyTimeout: Duration = .seconds(5),
        queue: any WorkQueue = DispatchWorkQueue("sightline.dead-letters"),
        forgotten: ForgottenSubjects = ForgottenSubjects(), logger: Logger? = nil
    ) throws {
        self.maxRows = maxRows
        self.forgotten = forgotten
        self.file = try DataFile(
            path: path, format: Self.format, busyTimeout: busyTimeout, queue: queue,
            logger: logger)
    }

    /// Stores the rejected hits of a batch. A hit that is delivered again is stored once, whichever
    /// groups were joined: its key is its group's sequence and its position in the group.
    ///
    /// - Parameter reasons: reasons by position in the batch.
    /// - Throws: SQLite's error.
    package func keep(_ hits: HitBatch, reasons: [Int: String], sink: String) async throws {
        let forgotten = self.forgotten
        try await self.insert(sink, hits.journal) {
            try Self.letters(
                try hits.masked(by: forgotten), reasons: try hits.masked(reasons, by: forgotten))
        }
    }

    /// Stores a whole batch whose checksum is wrong, or what has gone before the sink had it.
    ///
    /// - Throws: SQLite's error.
    package func keep(
        damaged batch: JournalBatch, of journal: String, sink: String
    ) async throws {
        try await self.insert(sink, journal) { [Letter(damaged: batch)] }
    }

    /// Stores a batch of a single group that a sink cannot read: each readable hit as a letter that
    /// can be replayed, and the remaining bytes as one letter.
    ///
    /// - Returns: the number of letters.
    /// - Throws: SQLite's error.
    package func keep(
        unreadable hits: HitBatch, reason: String, sink: String
    ) async throws -> Int {
        let forgotten = self.forgotten
        return try await self.insert(sink, hits.journal) {
            var letters: [Letter] = []
            let rest = hits.payload.withUnsafeBytes { payload in
                HitEncoding.salvage(payload) { hit in
                    try hit.withMask(forgotten) { hit in
                        letters.append(
                            Letter(
                                hit, in: hits.sequence, position: letters.count,
                                reason: "its batch: \(reason)"))
                    }
                }
            }
            if !rest.isEmpty {
                letters.append(Letter(unreadable: rest, in: hits.sequence, reason: reason))
            }
            return letters
        }
    }

    private static func letters(_ hits: HitBatch, reasons: [Int: String]) throws -> [Letter] {
        var letters: [Letter] = []
        try hits.forEachGroup { group, payload in
            var position = 0
            try HitEncoding.forEachHit(in: payload) { hit in
                defer { position += 1 }
                guard let reason = reasons[group.positions.lowerBound + position] else { return }
                letters.append(
                    Letter(hit, in: group.sequence, position: position, reason: reason))
            }
        }
        return letters
    }

    /// Makes letters and inserts them on the file's queue: none is made before a subject is erased
    /// and inserted after it.
    ///
    /// - Returns: the number of letters.
    @discardableResult
    private func insert(
        _ sink: String, _ journal: String,
        _ make: @escaping @Sendable () throws -> [Letter]
    ) async throws -> Int {
        let maxRows = self.maxRows
        let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
        return try await self.file.write { database in
            let letters = try make()
            for letter in letters {
                try database.execute(
                    sql: Self.insertion,
                    arguments: [
                        "journal": journal, "sink": sink, "sequence": letter.sequence,
                        "position": letter.position, "hitID": letter.hitID,
                        "reason": Data(letter.reason.utf8), "tenant": letter.tenant, "time": now,
                        "record": letter.record,
                    ])
            }
            try Self.evict(to: maxRows, in: database)
            return letters.count
        }
    }
}
