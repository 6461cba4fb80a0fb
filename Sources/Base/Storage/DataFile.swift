internal import Foundation
package import GRDB
internal import GRDBSQLite
internal import Glibc
package import Logging
internal import Synchronization

/// A database that the server writes in its data directory, such as hits.db. A sink or a store
/// opens it with a `Format` and a queue, and calls `read` and `write`, which run on that queue.
///
/// Only its owner may read the file, and a group if one is given. A file of another format is never
/// changed. While another program has locked it, calls throw until it can be opened.
package final class DataFile: Sendable {
    /// Describes the format of a database.
    package struct Format: Sendable {
        /// Its number, and the mark in the file that identifies it.
        package let identity: DatabaseFormat
        /// Pragmas set on every connection.
        package let settings: String
        /// Views for people, by name. A view with other text in the file is replaced by this one.
        /// Views are not a part of the format, because no build reads them.
        package let views: [String: String]
        /// Creates the tables in a new file, within a transaction.
        package let create: @Sendable (Database) throws -> Void

        /// Describes a format of `version`, without views unless they are given.
        package init(
            version: Int, settings: String, views: [String: String] = [:],
            create: @escaping @Sendable (Database) throws -> Void
        ) {
            (self.identity, self.settings) = (DatabaseFormat(version: version), settings)
            (self.views, self.create) = (views, create)
        }
    }

    private let path: String
    private let format: Format
    private let busyTimeout: Duration
    private let group: UserGroup?
    private let logger: Logger?
    /// Blocking calls run on this queue.
    private let queue: any WorkQueue
    private let opened: Mutex<DatabaseQueue?>

    /// Opens the file at `path`, creating it if missing.
    ///
    /// - Parameters:
    ///   - busyTimeout: how long each call waits for another program's lock.
    ///   - group: who may read the file besides its owner; a failure to allow it is logged.
    ///   - queue: the queue for blocking calls.
    /// - Throws: `FileFormatError`, or SQLite's error if the file is unusable; a locked file or a
    ///   full disk does not throw here.
    package init(
        path: String, format: Format, busyTimeout: Duration, group: UserGroup? = nil,
        queue: any WorkQueue = DispatchWorkQueue("sightline.data-file"), logger: Logger?
    ) throws {
        self.path = path
        self.queue = queue
        self.format = format
        self.busyTimeout = busyTimeout
        (self.group, self.logger) = (group, logger)
        var database: DatabaseQueue?
        do {
            database = try Self.open(path, format, busyTimeout, group)
            Self.share(path, with: group, logger)
        } catch let error as DatabaseError where error.mayPass {
            logger?.warning(
                "a file cannot be opened now, and will be once it can",
                metadata: ["file": "\(path)", "reason": "\(error)"])
        }
        self.opened = Mutex(database)
    }

    /// Opens a file of the data directory, on a queue that has its name.
    ///
    /// - Throws: as the other initializer.
    package convenience init(
        _ name: String, in directory: String, format: Format, logger: Logger?
    ) throws {
        try self.init(
            path: directory + "/" + name, format: format, busyTimeout: .seconds(5),
            queue: DispatchWorkQueue("sightline.\(name.prefix { $0 != "." })"), logger: logger)
    }

    /// Changes the database in one transaction; opens it first if that failed before.
    ///
    /// - Throws: SQLite's error, or that of `change`.
    package func write<Value: Sendable>(
        _ change: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await self.use { try $0.write(change) }
    }

    /// Reads the database; opens it first if that failed before.
    ///
    /// - Throws: SQLite's error, or that of `body`.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await self.use { try $0.read(body) }
    }

    /// Moves the contents of the write-ahead log into the file and truncates the log, so that
    /// neither contains bytes that were overwritten.
    ///
    /// - Throws: SQLite's error; `SQLITE_BUSY` while another program reads the file.
    package func emptyLog() async throws {
        try await self.use { queue in
            try queue.writeWithoutTransaction { database in
                let row = try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
                guard row?[0] == 0 else {
                    throw DatabaseError(
                        resultCode: .SQLITE_BUSY,
                        message: "another program reads the file, so its log cannot be emptied")
                }
            }
        }
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
        // The queue is serial: another call may have opened it meanwhile.
        if let database = self.opened.withLock({ $0 }) { return database }
        let database = try Self.open(self.path, self.format, self.busyTimeout, self.group)
        Self.share(self.path, with: self.group, self.logger)
        self.opened.withLock { $0 = database }
        return database
    }

    private static func open(
        _ path: String, _ format: Format, _ busyTimeout: Duration, _ group: UserGroup?
    ) throws -> DatabaseQueue {
        Self.restrict(path, except: group)
        var configuration = Configuration()
        configuration.label = "sightline.\(URL(filePath: path).lastPathComponent)"
        configuration.busyMode = .timeout(busyTimeout / .seconds(1))
        configuration.prepareDatabase { database in
            // Checked first, so that a file of another build is not changed.
            _ = try format.identity.isWritten(in: database, at: path)
            // SQLite silently opens a file read-only if it may not write it.
            guard sqlite3_db_readonly(database.sqliteConnection, "main") == 0 else {
                throw DatabaseError(resultCode: .SQLITE_READONLY, message: "not writable: \(path)")
            }
            try database.execute(sql: format.settings)
        }
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.writeWithoutTransaction { database in
            // GRDB sets another level for WAL. A delivered hit must be on disk.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.rewriteLog()
            try Self.prepare(database, at: path, in: format)
        }
        return database
    }

    /// Creates the tables of a new file, and replaces outdated views, in one transaction.
    private static func prepare(
        _ database: Database, at path: String, in format: Format
    ) throws {
        // Checked without a lock first, so that a complete file is not written.
        func isNew() throws -> Bool { try !format.identity.isWritten(in: database, at: path) }
        func oldViews() throws -> [String: String] {
            let select = "SELECT sql FROM sqlite_master WHERE name = ?"
            return try format.views.filter { name, sql in
                try String.fetchOne(database, sql: select, arguments: [name]) != sql
            }
        }
        guard try isNew() || !oldViews().isEmpty else { return }
        try database.inTransaction(.immediate) {
            if try isNew() {
                try format.create(database)
                try format.identity.mark(database)
            }
            for (name, sql) in try oldViews() {
                try database.execute(sql: "DROP VIEW IF EXISTS \(name); \(sql)")
            }
            return .commit
        }
    }

    /// Makes the file readable by its owner only, since it records what people did. SQLite creates
    /// `-wal` and `-shm` with the mode of the file. Errors are ignored: the mode of another owner's
    /// file cannot be changed, and SQLite reports whether the file is usable.
    ///
    /// What the group has already is left to it: its queries go on during a start, and while
    /// another program's lock keeps the file from being opened.
    private static func restrict(_ path: String, except group: UserGroup?) {
        let files = Self.files(of: path)
        // An existing file is not opened: closing it would drop SQLite's locks in this process.
        if access(files[0], F_OK) != 0 {
            let descriptor = Glibc.open(files[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            if descriptor >= 0 { close(descriptor) }
        }
        for file in files where group?.has(file) != true { chmod(file, 0o600) }
    }

    /// Lets a group read the open file: by now SQLite has created `-wal` and `-shm`, which are not
    /// the group's by themselves.
    private static func share(_ path: String, with group: UserGroup?, _ logger: Logger?) {
        guard let group else { return }
        let files = Self.files(of: path)
        let directory = URL(filePath: files[0]).deletingLastPathComponent()
        do {
            try group.mayRead(files, in: directory.path(percentEncoded: false))
        } catch {
            // SQLite has made `-wal` and `-shm` with the file's mode, for the group of the process.
            Self.restrict(path, except: group)
            logger?.warning(
                "a file cannot be given to its group, which may not read it",
                metadata: [
                    "file": "\(path)", "group": .stringConvertible(group.id), "reason": "\(error)",
                ])
        }
    }

    /// The database, its log and the log's index.
    private static func files(of path: String) -> [String] {
        let path = URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false)
        return ["", "-wal", "-shm"].map { path + $0 }
    }
}

extension DatabaseError {
    /// Whether a retry may succeed: another program holds the file, or the disk is full.
    fileprivate var mayPass: Bool {
        [.SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL].contains(self.resultCode)
    }
}
