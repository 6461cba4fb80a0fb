// What outlives the log's segments, in SQLite: the sinks' cursors, the window's keys and how far
// records have gone. One connection, used on GRDB's queue alone, so that no commit waits for it.
internal import Foundation
internal import GRDB

/// What a checkpoint holds: all that became known since the one before.
struct Checkpoint: Sendable {
    var cursors: [String: SinkCursor]
    /// The window's changes up to a sequence (`RecentHits.row(of:)`).
    var keys: [UInt8]
    var keysThrough: Int64
    /// How many of the keys were new.
    var newKeys: Int
    /// The newest row that every sink has and that is retained no more.
    var deletedThrough: Int64
    /// The newest row of keys without which the window still is full.
    var forgetThrough: Int64
}

/// The journal's SQLite file.
final class CheckpointStore: Sendable {
    private let database: DatabaseQueue

    /// How a checkpoint ended.
    enum Outcome {
        case durable
        case diskFull
        case failed(String)
    }

    /// Opens the file at `path`.
    init(path: String) throws(JournalError) {
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
            // GRDB sets its own synchronous level for WAL; ours comes after, and is read back
            // below.
            try self.database.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                try database.execute(sql: Self.schema)
            }
            for file in [path, path + "-wal"] { chmod(file, 0o600) }
        } catch {
            throw .unusable(path: path, reason: "\(error)")
        }
        try self.checkSettings()
    }

    private static let schema = """
        CREATE TABLE IF NOT EXISTS recent (sequence INTEGER PRIMARY KEY, keys BLOB NOT NULL);
        CREATE TABLE IF NOT EXISTS cursor (
            sink TEXT PRIMARY KEY, sequence INTEGER NOT NULL, place TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS journal (
            identity TEXT NOT NULL, deleted_through INTEGER NOT NULL);
        INSERT INTO journal SELECT lower(hex(randomblob(16))), 0
            WHERE NOT EXISTS (SELECT 1 FROM journal);
        """

    /// What may be written over rests on these two: they are read back, never assumed.
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

    /// Writes a checkpoint in one transaction, and calls `onEnd` on a queue of its own; `durable`
    /// means that its fdatasync has returned. Checkpoints are written in the order of the calls.
    func write(_ checkpoint: Checkpoint, onEnd: @escaping @Sendable (Outcome) -> Void) {
        self.database.asyncWrite({ try Self.write(checkpoint, in: $0) }) { _, result in
            switch result {
            case .success: onEnd(.durable)
            case .failure(let error as DatabaseError) where error.resultCode == .SQLITE_FULL:
                onEnd(.diskFull)
            case .failure(let error): onEnd(.failed("\(error)"))
            }
        }
    }

    private static func write(_ checkpoint: Checkpoint, in database: Database) throws {
        for (sink, cursor) in checkpoint.cursors {
            // A sink that says nothing of its place has not moved from it.
            try database.cachedStatement(
                sql: """
                    INSERT INTO cursor (sink, sequence, place) VALUES (?, ?, ?)
                    ON CONFLICT (sink) DO UPDATE SET sequence = excluded.sequence,
                        place = iif(excluded.place = '', place, excluded.place)
                    """
            ).execute(arguments: [sink, cursor.sequence, cursor.place])
        }
        if !checkpoint.keys.isEmpty {
            try database.cachedStatement(sql: "INSERT INTO recent (sequence, keys) VALUES (?, ?)")
                .execute(arguments: [checkpoint.keysThrough, Data(checkpoint.keys)])
        }
        try database.cachedStatement(sql: "DELETE FROM recent WHERE sequence <= ?")
            .execute(arguments: [checkpoint.forgetThrough])
        try database.cachedStatement(sql: "UPDATE journal SET deleted_through = ?")
            .execute(arguments: [checkpoint.deletedThrough])
    }

    /// Closes the file, once nothing is left on the queue.
    func close() {
        // What was promised is in the log: a close that fails loses nothing.
        try? self.database.close()
    }

    // MARK: Reading

    /// What a file holds when it is opened.
    struct Contents {
        var identity = ""
        var deletedThrough: Int64 = 0
        var cursors: [String: SinkCursor] = [:]
        /// Each row of the window: sequence and number of new keys.
        var recent: [(sequence: Int64, keys: Int)] = []

        /// Records up to this one were on disk, and their keys are here.
        var keysThrough: Int64 { self.recent.last?.sequence ?? 0 }
    }

    /// Reads what earlier runs left, and fills the window.
    func contents(restoring window: RecentHits) throws(JournalError) -> Contents {
        do {
            return try self.database.inDatabase { database in
                var contents = Contents()
                if let row = try Row.fetchOne(database, sql: "SELECT * FROM journal") {
                    contents.identity = row["identity"]
                    contents.deletedThrough = row["deleted_through"]
                }
                for row in try Row.fetchAll(database, sql: "SELECT * FROM cursor") {
                    contents.cursors[row["sink"]] = SinkCursor(
                        sequence: row["sequence"], place: row["place"])
                }
                let keys = try Row.fetchCursor(
                    database, sql: "SELECT sequence, keys FROM recent ORDER BY sequence")
                while let row = try keys.next() {
                    try row.withUnsafeData(atIndex: 1) { data in
                        contents.recent.append(
                            (row[0], data?.withUnsafeBytes(window.restore(row:)) ?? 0))
                    }
                }
                return contents
            }
        } catch {
            throw .failed(reason: "cannot read what earlier runs left: \(error)")
        }
    }
}
