// Reads the checkpoint at startup. SQLite has no checksums of its own: a flipped bit in a cursor
// would make a sink skip hits, and one in `deleted_through` would free segments that are needed.
internal import CCRC32C
internal import Foundation
internal import GRDB

extension CheckpointStore {
    /// The contents of the file when it is opened.
    struct Contents {
        var identity = ""
        var releasedThrough: Int64 = 0
        /// The number of events in all records up to `releasedThrough`, modulo 2³².
        var releasedTotal: UInt32 = 0
        /// The newest record when the checkpoint was written.
        var lastSequence: Int64 = 0
        /// The number of events in all records up to `lastSequence`, modulo 2³².
        var lastTotal: UInt32 = 0
        /// Each sink's cursor and gap.
        var sinks: [String: SinkCursors.Saved] = [:]
        /// The saved rows of the window: each one's sequence and number of new keys.
        var recent: [(sequence: Int64, keys: Int)] = []
        /// The ledger's pages, with all records up to `lastSequence`.
        var ledger: [[UInt8]] = []

        /// The newest record whose keys are in the checkpoint.
        var keysThrough: Int64 { self.recent.last?.sequence ?? 0 }
    }

    fileprivate struct Damage: Error, CustomStringConvertible {
        let description =
            "checkpoint.db is damaged: its checksum is not that of the cursors and sequences in "
            + "it. Restore the data directory, or move checkpoint.db away: each sink is then given "
            + "again all that the log holds"
    }

    /// Reads the checkpoint of earlier runs and fills the window.
    func contents(restoring window: DeduplicationWindow) throws(JournalError) -> Contents {
        do {
            return try self.database.inDatabase { database in
                var contents = Contents()
                try contents.readProgress(in: database)
                contents.ledger = try Self.ledgerPages(in: database)
                let keys = try Row.fetchCursor(
                    database, sql: "SELECT sequence, keys FROM recent ORDER BY sequence")
                while let row = try keys.next() {
                    let sequence = try row.decode(Int64.self, atIndex: 0)
                    try row.withUnsafeData(atIndex: 1) { data in
                        contents.recent.append(
                            (sequence, data?.withUnsafeBytes(window.restore(row:)) ?? 0))
                    }
                }
                // A checkpoint whose checksum an operator has cleared may say anything.
                guard
                    max(contents.keysThrough, contents.releasedThrough) <= contents.lastSequence
                else { throw Damage() }
                return contents
            }
        } catch {
            throw .failed(reason: "cannot read what earlier runs left: \(error)")
        }
    }

    /// The ledger's pages in the order of their numbers. Each has its own checksum.
    static func ledgerPages(in database: Database) throws -> [[UInt8]] {
        try Data.fetchAll(database, sql: "SELECT rows FROM ledger ORDER BY page").map(Array.init)
    }

    /// The CRC-32C of the cursors and of the journal's progress: damage there would lose hits. The
    /// window's keys are left out: they are many, and a damaged one only admits a duplicate.
    static func checksum(in database: Database) throws -> UInt32 {
        let rows = try database.cachedStatement(
            sql: """
                SELECT 0, '', quote(identity) || quote(deleted_through) || quote(deleted_total)
                    || quote(last_sequence) || quote(last_total) FROM journal
                UNION ALL SELECT 1, sink, quote(sink) || quote(sequence) || quote(place) FROM cursor
                UNION ALL SELECT 2, sink, quote(sink) || quote(through) || quote(events)
                    || quote(hits) FROM gap
                ORDER BY 1, 2
                """)
        return try Row.fetchAll(rows).reduce(0) { checksum, row in
            Array(try row.decode(String.self, atIndex: 2).utf8).withUnsafeBytes {
                sightline_crc32c(checksum, $0.baseAddress, $0.count)
            }
        }
    }
}

extension CheckpointStore.Contents {
    /// Reads all but the window. Must not trap, whatever the file contains.
    fileprivate mutating func readProgress(in database: Database) throws {
        guard let row = try Row.fetchOne(database, sql: "SELECT * FROM journal") else {
            throw CheckpointStore.Damage()
        }
        // NULL until the next checkpoint, if an operator has given the journal a new identity
        // (docs/operations.md).
        let checksum = try row.decode(Int64?.self, forColumn: "checksum")
        if let checksum, try checksum != Int64(CheckpointStore.checksum(in: database)) {
            throw CheckpointStore.Damage()
        }
        self.identity = try row.decode(String.self, forColumn: "identity")
        self.releasedThrough = try row.decode(Int64.self, forColumn: "deleted_through")
        self.releasedTotal = try row.decode(UInt32.self, forColumn: "deleted_total")
        self.lastSequence = try row.decode(Int64.self, forColumn: "last_sequence")
        self.lastTotal = try row.decode(UInt32.self, forColumn: "last_total")
        for row in try Row.fetchAll(database, sql: "SELECT * FROM cursor") {
            let cursor = SinkCursor(
                sequence: try row.decode(Int64.self, forColumn: "sequence"),
                resumeToken: try row.decode(String.self, forColumn: "place"))
            self.sinks[try row.decode(String.self, forColumn: "sink")] = SinkCursors.Saved(
                cursor: cursor)
        }
        for row in try Row.fetchAll(database, sql: "SELECT * FROM gap") {
            let gap = SinkGap(
                through: try row.decode(Int64.self, forColumn: "through"),
                events: try row.decode(Int.self, forColumn: "events"),
                hits: try row.decode(Int.self, forColumn: "hits"))
            self.sinks[
                try row.decode(String.self, forColumn: "sink"),
                default: SinkCursors.Saved(cursor: SinkCursor())
            ].gap = gap
        }
    }
}
