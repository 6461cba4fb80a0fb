// The state that must outlive the log's segments, in SQLite: cursors, the window's keys and the
// journal's progress. Its single connection runs on a queue of GRDB's, so that no commit waits for
// it.
internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import Storage

/// A checkpoint: everything that changed since the previous one.
struct Checkpoint: Sendable {
    var sinks: [String: SinkCursors.Saved]
    /// Sinks whose rows are deleted before those in `sinks` are written.
    var forgotten: Set<String>
    /// The window's changes up to a sequence (`DeduplicationWindow.row(of:)`).
    var keys: [UInt8]
    var keysThrough: Int64
    /// The number of new keys in `keys`.
    var newKeys: Int
    /// The newest record, and the number of events in all records up to it, modulo 2³².
    var lastSequence: Int64
    var lastTotal: UInt32
    /// The newest released group, and the number of events in all records up to it, modulo 2³².
    var releasedThrough: Int64
    var releasedTotal: UInt32
    /// The newest saved row of keys that can be dropped while the window stays full.
    var forgetThrough: Int64
    /// The ledger's changed pages: with them it has everything up to `lastSequence`.
    var ledger = LedgerPages.Saved.none
}

final class CheckpointStore: Sendable {
    let database: DatabaseQueue
    /// Checkpoints are written on this queue.
    private let queue: any WorkQueue

    /// The result of writing a checkpoint.
    enum Outcome {
        case durable
        case noRoom
        case failed(String)
    }

    /// The format of checkpoint.db.
    static let format = DatabaseFormat(version: 1)

    /// Opens the file at `path`, creating it if missing. Checkpoints are written on `queue`.
    ///
    /// - Throws: `JournalError`; `.format` if another build wrote the file.
    init(path: String, queue: any WorkQueue) throws(JournalError) {
        self.queue = queue
        do {
            var configuration = Configuration()
            configuration.label = "sightline.checkpoint"
            configuration.prepareDatabase { database in
                // Locked before the first read, so that SQLite needs no shared memory.
                try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
                // Checked before anything is written, so that another build's file stays as it is.
                _ = try Self.format.isWritten(in: database, at: path)
                // Debian's SQLite overwrites deleted rows with zeros by default.
                try database.execute(
                    sql: "PRAGMA journal_mode = WAL; PRAGMA secure_delete = OFF")
            }
            self.database = try DatabaseQueue(path: path, configuration: configuration)
            // GRDB sets a synchronous level of its own for WAL. Set ours after it; it is read back
            // below.
            try self.database.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                if try !Self.format.isWritten(in: database, at: path) {
                    try database.inTransaction {
                        try Self.create(in: database)
                        return .commit
                    }
                }
                try database.rewriteLog()
            }
            for file in [path, path + "-wal"] { chmod(file, 0o600) }
        } catch let error as FileFormatError {
            throw .format(error)
        } catch {
            throw .unusable(path: path, reason: "\(error)")
        }
        try self.checkSettings()
    }

    private static let schema = """
        CREATE TABLE recent (sequence INTEGER PRIMARY KEY, keys BLOB NOT NULL);
        CREATE TABLE cursor (
            sink TEXT PRIMARY KEY, sequence INTEGER NOT NULL, place TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE gap (
            sink TEXT PRIMARY KEY, through INTEGER NOT NULL, events INTEGER NOT NULL,
            hits INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE ledger (page INTEGER PRIMARY KEY, rows BLOB NOT NULL);
        CREATE TABLE journal (
            identity TEXT NOT NULL, deleted_through INTEGER NOT NULL,
            deleted_total INTEGER NOT NULL, last_sequence INTEGER NOT NULL,
            last_total INTEGER NOT NULL, checksum INTEGER);
        INSERT INTO journal VALUES (lower(hex(randomblob(16))), 0, 0, 0, 0, NULL);
        """

    /// Creates the tables of a journal without records.
    private static func create(in database: Database) throws {
        try database.execute(sql: Self.schema)
        try Self.writeChecksum(in: database)
        try Self.format.mark(database)
    }

    private static func writeChecksum(in database: Database) throws {
        try database.cachedStatement(sql: "UPDATE journal SET checksum = ?")
            .execute(arguments: [Self.checksum(in: database)])
    }

    /// The reuse of segments depends on both settings, so they are read back.
    private func checkSettings() throws(JournalError) {
        for (name, needed) in [("journal_mode", "wal"), ("synchronous", "2")] {
            let value: String
            do {
                value = try self.database.inDatabase { database in
                    try String.fetchOne(database, sql: "PRAGMA \(name)") ?? "unknown"
                }
            } catch {
                throw .unusable(path: self.database.path, reason: "\(error)")
            }
            guard value == needed else {
                throw .unsafeSetting(name: name, value: value, needed: needed)
            }
        }
    }

    // MARK: Writing

    /// Writes a checkpoint in one transaction and calls `onEnd` on the store's queue. `durable`
    /// means that fdatasync has returned. Checkpoints are written in the order of the calls.
    func write(_ checkpoint: Checkpoint, onEnd: @escaping @Sendable (Outcome) -> Void) {
        self.queue.async { onEnd(self.outcome(of: checkpoint)) }
    }

    /// Writes a checkpoint, and returns when it is durable.
    ///
    /// - Throws: `JournalError.failed` if it is not.
    func save(_ checkpoint: Checkpoint) throws(JournalError) {
        switch self.outcome(of: checkpoint) {
        case .durable: return
        case .noRoom:
            throw .failed(reason: "there is no room to write where a new sink begins")
        case .failed(let reason): throw .failed(reason: reason)
        }
    }

    private func outcome(of checkpoint: Checkpoint) -> Outcome {
        do {
            try self.database.write { try Self.write(checkpoint, in: $0) }
            return .durable
        } catch let error as DatabaseError where self.isNoRoom(error) {
            return .noRoom
        } catch {
            return .failed("\(error)")
        }
    }

    /// Whether the write failed for want of room. SQLite's own code covers a full disk only;
    /// `errno` covers quotas, memory and descriptors. A failed fsync is never treated as a full
    /// disk: data may already be lost.
    private func isNoRoom(_ error: DatabaseError) -> Bool {
        switch error.extendedResultCode {
        case .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC: return false
        default: break
        }
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_NOMEM: return true
        case .SQLITE_IOERR, .SQLITE_CANTOPEN:
            let code = self.database.inDatabase { sqlite3_system_errno($0.sqliteConnection) }
            return SystemError.noRoom.contains(code)
        default: return false
        }
    }

    private static func write(_ checkpoint: Checkpoint, in database: Database) throws {
        for sink in checkpoint.forgotten {
            try database.cachedStatement(sql: "DELETE FROM cursor WHERE sink = ?")
                .execute(arguments: [sink])
            try database.cachedStatement(sql: "DELETE FROM gap WHERE sink = ?")
                .execute(arguments: [sink])
        }
        for (sink, saved) in checkpoint.sinks { try Self.write(saved, of: sink, in: database) }
        if !checkpoint.keys.isEmpty {
            try database.cachedStatement(sql: "INSERT INTO recent (sequence, keys) VALUES (?, ?)")
                .execute(arguments: [checkpoint.keysThrough, Data(checkpoint.keys)])
        }
        try database.cachedStatement(sql: "DELETE FROM recent WHERE sequence <= ?")
            .execute(arguments: [checkpoint.forgetThrough])
        try Self.write(checkpoint.ledger, in: database)
        try database.cachedStatement(
            sql: """
                UPDATE journal SET deleted_through = ?, deleted_total = ?, last_sequence = ?,
                    last_total = ?
                """
        ).execute(arguments: [
            checkpoint.releasedThrough, checkpoint.releasedTotal, checkpoint.lastSequence,
            checkpoint.lastTotal,
        ])
        try Self.writeChecksum(in: database)
    }

    private static func write(
        _ saved: SinkCursors.Saved, of sink: String, in database: Database
    ) throws {
        // An empty token means that the sink has reported none since the stored one.
        try database.cachedStatement(
            sql: """
                INSERT INTO cursor (sink, sequence, place) VALUES (?, ?, ?)
                ON CONFLICT (sink) DO UPDATE SET sequence = excluded.sequence,
                    place = iif(excluded.place = '', place, excluded.place)
                """
        ).execute(arguments: [sink, saved.cursor.sequence, saved.cursor.resumeToken])
        if let gap = saved.gap {
            try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO gap (sink, through, events, hits) VALUES (?, ?, ?, ?)"
            ).execute(arguments: [sink, gap.through, gap.events, gap.hits])
        } else {
            try database.cachedStatement(sql: "DELETE FROM gap WHERE sink = ?")
                .execute(arguments: [sink])
        }
    }

    private static func write(_ ledger: LedgerPages.Saved, in database: Database) throws {
        for page in ledger.pages {
            try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO ledger (page, rows) VALUES (?, ?)"
            ).execute(arguments: [page.number, Data(page.bytes)])
        }
        if ledger.isShorter {
            try database.cachedStatement(sql: "DELETE FROM ledger WHERE page >= ?")
                .execute(arguments: [ledger.count])
        }
    }

    /// Closes the file after all queued work.
    func close() {
        // Committed checkpoints are in the write-ahead log, so a failed close loses nothing.
        try? self.database.close()
    }
}
