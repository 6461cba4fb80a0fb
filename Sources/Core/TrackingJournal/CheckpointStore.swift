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
    /// Sinks of which everything is deleted first: one in `sinks` begins anew.
    var forgotten: Set<String>
    /// The window's changes up to a sequence (`RecentHits.row(of:)`).
    var keys: [UInt8]
    var keysThrough: Int64
    /// The number of new keys in `keys`.
    var newKeys: Int
    /// The newest record, and the number of events in all records up to it, modulo 2³².
    var lastSequence: Int64
    var lastTotal: UInt32
    /// The newest group that every sink has and that is retained no more, and events in all records
    /// up to it; nil where nothing tells.
    var deletedThrough: Int64
    var deletedTotal: UInt32?
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

    /// The schema's version. Version 0 lacks the totals of events, version 1 the checksum, version
    /// 2 what sinks have missed, and version 3 the ledger.
    static let version = 4

    /// Opens the file at `path`. Checkpoints are written on `queue`.
    ///
    /// - Throws: `JournalError`; `.foreign` if a newer program wrote the file.
    init(path: String, queue: any WorkQueue) throws(JournalError) {
        self.queue = queue
        do {
            var configuration = Configuration()
            configuration.label = "sightline.checkpoint"
            configuration.prepareDatabase { database in
                // Debian's SQLite overwrites deleted rows with zeros by default.
                try database.execute(
                    sql: """
                        PRAGMA locking_mode = EXCLUSIVE;
                        PRAGMA journal_mode = WAL;
                        PRAGMA secure_delete = OFF;
                        """)
            }
            self.database = try DatabaseQueue(path: path, configuration: configuration)
            // GRDB sets a synchronous level of its own for WAL. Set ours after it; it is read back
            // below.
            try self.database.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                guard version <= Self.version else { throw NewerVersion(number: version) }
                try database.inTransaction {
                    try database.execute(sql: Self.form0)
                    if version < 1 { try database.execute(sql: Self.form1) }
                    if version < 2 { try database.execute(sql: Self.form2) }
                    if version < 3 { try database.execute(sql: Self.form3) }
                    if version < 4 { try database.execute(sql: Self.form4) }
                    return .commit
                }
                try database.rewriteLog()
            }
            for file in [path, path + "-wal"] { chmod(file, 0o600) }
        } catch let error as NewerVersion {
            throw .foreign(
                path: path,
                reason: "its user_version is \(error.number), and this program knows "
                    + "\(Self.version) at most")
        } catch {
            throw .unusable(path: path, reason: "\(error)")
        }
        try self.checkSettings()
    }

    private struct NewerVersion: Error { let number: Int }

    private static let form0 = """
        CREATE TABLE IF NOT EXISTS recent (sequence INTEGER PRIMARY KEY, keys BLOB NOT NULL);
        CREATE TABLE IF NOT EXISTS cursor (
            sink TEXT PRIMARY KEY, sequence INTEGER NOT NULL, place TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS journal (
            identity TEXT NOT NULL, deleted_through INTEGER NOT NULL);
        INSERT INTO journal (identity, deleted_through) SELECT lower(hex(randomblob(16))), 0
            WHERE NOT EXISTS (SELECT 1 FROM journal);
        """

    private static let form1 = """
        ALTER TABLE journal ADD COLUMN deleted_total INTEGER;
        ALTER TABLE journal ADD COLUMN last_sequence INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE journal ADD COLUMN last_total INTEGER;
        UPDATE journal SET deleted_total = 0 WHERE deleted_through = 0;
        """

    /// Clears the checksum whenever a program writes that does not maintain it.
    private static let form2 = """
        ALTER TABLE journal ADD COLUMN checksum INTEGER;
        CREATE TRIGGER forget_checksum AFTER UPDATE OF deleted_through ON journal
            BEGIN UPDATE journal SET checksum = NULL; END;
        """

    /// What is missing after a sink's cursor.
    private static let form3 = """
        CREATE TABLE gap (
            sink TEXT PRIMARY KEY, through INTEGER NOT NULL, events INTEGER NOT NULL,
            hits INTEGER NOT NULL) WITHOUT ROWID;
        """

    private static let form4 = """
        CREATE TABLE ledger (page INTEGER PRIMARY KEY, rows BLOB NOT NULL);
        PRAGMA user_version = 4;
        """

    /// The reuse of segments depends on both settings, so they are read back.
    private func checkSettings() throws(JournalError) {
        for (name, needed) in [("journal_mode", "wal"), ("synchronous", "2")] {
            let value: String
            do {
                value = try self.database.inDatabase { database in
                    try String.fetchOne(database, sql: "PRAGMA \(name)") ?? "not told"
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

    /// Whether there was no room. SQLite's own code covers a full disk only; `errno` tells of
    /// quotas, memory and descriptors. A failed sync is never that: what was written may be lost.
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
            checkpoint.deletedThrough, checkpoint.deletedTotal, checkpoint.lastSequence,
            checkpoint.lastTotal,
        ])
        try database.cachedStatement(sql: "UPDATE journal SET checksum = ?")
            .execute(arguments: [Self.checksum(in: database)])
    }

    private static func write(
        _ saved: SinkCursors.Saved, of sink: String, in database: Database
    ) throws {
        // A sink that reports no place has not moved since its last one.
        try database.cachedStatement(
            sql: """
                INSERT INTO cursor (sink, sequence, place) VALUES (?, ?, ?)
                ON CONFLICT (sink) DO UPDATE SET sequence = excluded.sequence,
                    place = iif(excluded.place = '', place, excluded.place)
                """
        ).execute(arguments: [sink, saved.cursor.sequence, saved.cursor.place])
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
