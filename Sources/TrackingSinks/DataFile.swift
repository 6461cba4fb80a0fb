// A database of the data directory that the server writes: hits.db and dead_letters.db.
internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import Logging
internal import Synchronization
internal import TrackingJournal

/// Opens one database: for its owner alone, in a format that this build knows. A file that another
/// program holds is opened later, once it can be; until then whoever asks gets the reason.
final class DataFile: Sendable {
    /// What is known of a kind of file.
    struct Format: Sendable {
        /// Its `user_version`; 0 is a new file, or one that was made before formats had numbers.
        let version: Int
        /// Pragmas of every connection.
        let settings: String
        /// Views for people, by name: a file's view of another text is replaced by this one. They
        /// have no part in the version, for no build reads them.
        var views: [String: String] = [:]
        /// Takes a file from version 0 to `version`, within a transaction.
        let migrate: @Sendable (Database) throws -> Void
    }

    private let path: String
    private let format: Format
    private let busyTimeout: Duration
    /// Opening, reading and writing block.
    private let queue: any WorkQueue
    private let opened: Mutex<DatabaseQueue?>

    /// Opens the file at `path`, creating it where it is missing.
    ///
    /// - Parameters:
    ///   - busyTimeout: how long another program's lock is waited for, each time.
    ///   - queue: the file is used on it.
    /// - Throws: `FileFormatError`, or what SQLite says where the file cannot be used; not where
    ///   it only cannot be opened now.
    init(
        path: String, format: Format, busyTimeout: Duration,
        queue: any WorkQueue = DispatchWorkQueue("sightline.data-file"), logger: Logger?
    ) throws {
        self.path = path
        self.queue = queue
        self.format = format
        self.busyTimeout = busyTimeout
        var database: DatabaseQueue?
        do {
            database = try Self.open(path, format, busyTimeout)
        } catch let error as DatabaseError where error.mayPass {
            logger?.warning(
                "a file cannot be opened now, and will be once it can",
                metadata: ["file": "\(path)", "reason": "\(error)"])
        }
        self.opened = Mutex(database)
    }

    /// Changes the database in one transaction; opens it where that was not possible before.
    ///
    /// - Throws: what SQLite says, or `change` throws.
    func write<Value: Sendable>(
        _ change: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await self.use { try $0.write(change) }
    }

    /// Reads the database; opens it where that was not possible before.
    ///
    /// - Throws: what SQLite says, or `body` throws.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await self.use { try $0.read(body) }
    }

    private func use<Value: Sendable>(
        _ body: @escaping @Sendable (DatabaseQueue) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            self.queue.async {
                continuation.resume(with: Result { try body(try self.openNow()) })
            }
        }
    }

    private func openNow() throws -> DatabaseQueue {
        // The queue lets one in at a time: who comes second finds it open.
        if let database = self.opened.withLock({ $0 }) { return database }
        let database = try Self.open(self.path, self.format, self.busyTimeout)
        self.opened.withLock { $0 = database }
        return database
    }

    private static func open(
        _ path: String, _ format: Format, _ busyTimeout: Duration
    ) throws -> DatabaseQueue {
        Self.restrict(path)
        var configuration = Configuration()
        configuration.label = "sightline.\(URL(filePath: path).lastPathComponent)"
        configuration.busyMode = .timeout(busyTimeout / .seconds(1))
        configuration.prepareDatabase { database in
            // First of all: nothing is changed in a file of a newer build.
            _ = try FileFormatError.checkVersion(of: database, at: path, known: format.version)
            // SQLite opens what it may not write for reading, and says nothing.
            guard sqlite3_db_readonly(database.sqliteConnection, "main") == 0 else {
                throw DatabaseError(resultCode: .SQLITE_READONLY, message: "not writable: \(path)")
            }
            try database.execute(sql: format.settings)
        }
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.writeWithoutTransaction { database in
            // Its level for WAL is GRDB's own before. Delivered, and kept, have to mean on disk.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.rewriteLog()
            try Self.migrate(database, at: path, to: format)
        }
        return database
    }

    /// Brings a file to its format and views in one transaction: a crash leaves the old or the new.
    static func migrate(_ database: Database, at path: String, to format: Format) throws {
        // Without a lock at first: a file that is as it should be is not written.
        func isOld() throws -> Bool {
            try FileFormatError.checkVersion(of: database, at: path, known: format.version)
                < format.version
        }
        func oldViews() throws -> [String: String] {
            let select = "SELECT sql FROM sqlite_master WHERE name = ?"
            return try format.views.filter { name, sql in
                try String.fetchOne(database, sql: select, arguments: [name]) != sql
            }
        }
        guard try isOld() || !oldViews().isEmpty else { return }
        try database.inTransaction(.immediate) {
            if try isOld() {
                try format.migrate(database)
                try database.execute(sql: "PRAGMA user_version = \(format.version)")
            }
            for (name, sql) in try oldViews() {
                try database.execute(sql: "DROP VIEW IF EXISTS \(name); \(sql)")
            }
            return .commit
        }
    }

    /// Lets nobody read the file but its owner: it tells what people did. SQLite gives `-wal` and
    /// `-shm` the mode that the file has by then. What cannot be changed is somebody else's, and
    /// SQLite says whether it can be used.
    private static func restrict(_ path: String) {
        let path = URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false)
        // Never opened where it is there: closing it would drop SQLite's locks in this process.
        if access(path, F_OK) != 0 {
            let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            if descriptor >= 0 { close(descriptor) }
        }
        for file in [path, path + "-wal", path + "-shm"] { chmod(file, 0o600) }
    }
}

extension DatabaseError {
    /// Whether the same call may work later: another program holds the file, or the disk is full.
    fileprivate var mayPass: Bool {
        [.SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL].contains(self.resultCode)
    }
}
