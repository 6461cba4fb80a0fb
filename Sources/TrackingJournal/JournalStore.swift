// The journal's SQLite file. One connection, used on its own queue alone: it writes and
// checkpoints, so SQLite 3.40's bug with two connections (sqlite.org/wal.html#walresetbug) has no
// way in.
internal import CCRC32C
internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import TrackingCore

/// Rows of sealed groups, the sinks' cursors, and the window's keys. `@unchecked Sendable` rests on
/// every call coming through `Journal`'s queue, which is GRDB's own.
final class JournalStore: @unchecked Sendable {
    private let database: DatabaseQueue
    private let checkpointBytes: Int
    /// Whether nothing is written: the connection then only lends its queue.
    private let isVolatile: Bool
    private var insertBatch: Statement?
    private var insertRecent: Statement?
    /// Bytes that were written to the log since it was last moved into the file.
    private(set) var logBytes = 0

    /// One commit: a sealed group, and what became known of the sinks since the last one.
    struct Commit {
        var sequence: Int64
        var payload: [UInt8]
        var eventCount: Int
        var recentRow: [UInt8]
        var createTime: Int64
        var cursors: [String: SinkCursor]
        var deleteThrough: Int64
        var forgetThrough: Int64

        /// Whether there is nothing to write.
        var isEmpty: Bool {
            self.payload.isEmpty && self.recentRow.isEmpty && self.cursors.isEmpty
                && self.deleteThrough == 0
        }
    }

    /// How a commit ended.
    enum Outcome {
        case durable
        case diskFull
        case failed(String)
    }

    /// Opens the file at `path`; without one nothing is kept.
    init(path: String?, checkpointBytes: Int) throws(JournalError) {
        self.checkpointBytes = checkpointBytes
        self.isVolatile = path == nil
        do {
            var configuration = Configuration()
            configuration.label = "sightline.journal"
            configuration.prepareDatabase { database in
                // Debian's SQLite overwrites deleted rows with zeros by default, and so writes each
                // payload twice more. The cache holds the pages of a group until they are deleted.
                try database.execute(
                    sql: """
                        PRAGMA page_size = \(Self.pageBytes);
                        PRAGMA locking_mode = EXCLUSIVE;
                        PRAGMA journal_mode = WAL;
                        PRAGMA wal_autocheckpoint = 0;
                        PRAGMA cache_size = -16384;
                        PRAGMA secure_delete = OFF;
                        """)
            }
            self.database = try DatabaseQueue(
                path: path ?? ":memory:", configuration: configuration)
            // GRDB sets its own synchronous level for WAL; ours comes after, and is read back
            // below.
            try self.database.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                try database.execute(sql: Self.schema)
            }
            if let path { chmod(path, 0o600) }
        } catch {
            throw .unusable(path: path ?? "the journal's memory", reason: "\(error)")
        }
        if path != nil { try self.checkSettings() }
    }

    private static let pageBytes = 16384

    private static let schema = """
        CREATE TABLE IF NOT EXISTS batch (
            sequence INTEGER PRIMARY KEY, create_time INTEGER NOT NULL, events INTEGER NOT NULL,
            crc32c INTEGER NOT NULL, payload BLOB NOT NULL);
        CREATE TABLE IF NOT EXISTS recent (sequence INTEGER PRIMARY KEY, keys BLOB NOT NULL);
        CREATE TABLE IF NOT EXISTS cursor (
            sink TEXT PRIMARY KEY, sequence INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS place (
            sink TEXT PRIMARY KEY, place TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS identity (journal TEXT NOT NULL);
        INSERT INTO identity SELECT lower(hex(randomblob(16)))
            WHERE NOT EXISTS (SELECT 1 FROM identity);
        """

    /// Acks rest on these two: they are read back, never assumed.
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

    /// Runs `body` on the journal's queue, in the order of the calls.
    func async(_ body: @escaping @Sendable () -> Void) {
        self.database.asyncWriteWithoutTransaction { _ in body() }
    }

    /// Runs `body` with the connection, for reading.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try self.database.unsafeReentrantWrite(body)
    }

    // MARK: Writing

    /// Writes one group in one transaction; `durable` means that its fdatasync has returned.
    func commit(_ commit: Commit) -> Outcome {
        if self.isVolatile { return .durable }
        do {
            try self.database.unsafeReentrantWrite { database in
                try database.inTransaction(.immediate) {
                    try self.insert(commit, into: database)
                    try self.tidy(commit, in: database)
                    return .commit
                }
            }
            return .durable
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            return .diskFull
        } catch {
            return .failed("\(error)")
        }
    }

    private func insert(_ commit: Commit, into database: Database) throws {
        if !commit.payload.isEmpty {
            let statement = try Self.prepare(
                &self.insertBatch, database,
                """
                INSERT INTO batch (sequence, create_time, events, crc32c, payload)
                VALUES (?, ?, ?, ?, ?)
                """)
            try commit.payload.withUnsafeBytes { payload in
                let checksum = sightline_crc32c(0, payload.baseAddress, payload.count)
                let pointer = statement.sqliteStatement
                sqlite3_bind_int64(pointer, 1, commit.sequence)
                sqlite3_bind_int64(pointer, 2, commit.createTime)
                sqlite3_bind_int64(pointer, 3, Int64(commit.eventCount))
                sqlite3_bind_int64(pointer, 4, Int64(checksum))
                try Self.step(pointer, binding: payload, at: 5, database)
            }
        }
        if !commit.recentRow.isEmpty {
            let statement = try Self.prepare(
                &self.insertRecent, database,
                "INSERT OR REPLACE INTO recent (sequence, keys) VALUES (?, ?)")
            try commit.recentRow.withUnsafeBytes { row in
                sqlite3_bind_int64(statement.sqliteStatement, 1, commit.sequence)
                try Self.step(statement.sqliteStatement, binding: row, at: 2, database)
            }
        }
    }

    private static func prepare(
        _ statement: inout Statement?, _ database: Database, _ sql: String
    ) throws -> Statement {
        if let statement { return statement }
        let made = try database.makeStatement(sql: sql)
        statement = made
        return made
    }

    /// Binds a blob without copying it: it lives until the step is done.
    private static func step(
        _ statement: OpaquePointer, binding blob: UnsafeRawBufferPointer, at index: CInt,
        _ database: Database
    ) throws {
        sqlite3_bind_blob64(statement, index, blob.baseAddress, UInt64(blob.count), nil)
        let code = sqlite3_step(statement)
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
        guard code == SQLITE_DONE else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
        }
    }

    private func tidy(_ commit: Commit, in database: Database) throws {
        for (sink, cursor) in commit.cursors {
            try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO cursor (sink, sequence) VALUES (?, ?)"
            ).execute(arguments: [sink, cursor.sequence])
            guard !cursor.place.isEmpty else { continue }
            try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO place (sink, place) VALUES (?, ?)"
            ).execute(arguments: [sink, cursor.place])
        }
        if commit.deleteThrough > 0 {
            try database.cachedStatement(sql: "DELETE FROM batch WHERE sequence <= ?")
                .execute(arguments: [commit.deleteThrough])
        }
        if commit.forgetThrough > 0 {
            try database.cachedStatement(sql: "DELETE FROM recent WHERE sequence <= ?")
                .execute(arguments: [commit.forgetThrough])
        }
    }

    /// Bytes of pages that were written to the log since this was last asked. They are up to four
    /// times the payload where groups are small.
    private func takeWrittenBytes() throws -> Int {
        try self.read { database in
            var (pages, highest): (CInt, CInt) = (0, 0)
            sqlite3_db_status(
                database.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 1)
            return Int(pages) * Self.pageBytes
        }
    }

    /// Moves the log into the file, where enough has been written to it since the last time: an
    /// eighth of that where nobody waits, for then the next request waits for an eighth of the
    /// time. Called between two groups, once the clients of the first have been told. A full disk
    /// only leaves the log longer.
    ///
    /// - Throws: `JournalError.failed` where the disk has failed.
    func checkpointIfDue(isIdle: Bool) throws(JournalError) {
        let dueBytes = isIdle ? self.checkpointBytes / 8 : self.checkpointBytes
        do {
            self.logBytes += try self.takeWrittenBytes()
            guard self.logBytes >= dueBytes else { return }
            try self.database.unsafeReentrantWrite { _ = try $0.checkpoint(.passive) }
            self.logBytes = 0
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            return
        } catch {
            throw .failed(reason: "\(error)")
        }
    }

    /// Closes the file, once nothing is left on the queue.
    func close() {
        self.insertBatch = nil
        self.insertRecent = nil
        // Everything acked is committed: a close that fails loses nothing.
        try? self.database.close()
    }
}
