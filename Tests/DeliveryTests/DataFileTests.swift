// hits.db and dead_letters.db as files: their format, their mode, and who holds them.
@testable internal import Delivery
internal import Foundation
internal import GRDB
internal import SQLiteSink
internal import SinkTestSupport
@testable internal import Storage
internal import SinkKit
internal import TestSupport
internal import Testing
internal import TrackingJournal

struct DataFileTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    enum Kind: String, CaseIterable {
        case hits = "hits.db"
        case letters = "dead_letters.db"

        var formatVersion: Int {
            switch self {
            case .hits: SQLiteSink.formatVersion
            case .letters: DeadLetters.formatVersion
            }
        }
    }

    private func path(_ kind: Kind) -> String { self.directory.file(kind.rawValue) }

    /// Opens a file without waiting for locks; returns a closure that tells whether it is writable.
    private func open(_ kind: Kind) throws -> () async throws -> Bool {
        switch kind {
        case .hits:
            let sink = try SQLiteSink(path: self.path(kind), busyTimeout: .zero)
            return {
                await sink.deliver(try TestHits.batch([TestEvents.full(id: 1)])) == .delivered
            }
        case .letters:
            let letters = try DeadLetters(path: self.path(kind), busyTimeout: .zero)
            return {
                let batch = try TestHits.batch([TestEvents.full(id: 1)])
                do {
                    try await letters.keep(batch, reasons: [0: "no"], sink: "a")
                    return true
                } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                    return false
                }
            }
        }
    }

    private func isWritten(_ kind: Kind) throws -> Bool {
        try DatabaseQueue(inUse: self.path(kind)).read {
            try DatabaseFormat(version: kind.formatVersion).isWritten(in: $0, at: self.path(kind))
        }
    }

    @Test(
        "a file of another build is refused, and not changed", arguments: Kind.allCases,
        [
            (application: DatabaseFormat.applicationID, version: 7, says: "has format 7, and"),
            (application: 0, version: 1, says: "has format 1 of a build before"),
            (application: 9, version: 1, says: "application id 9"),
        ])
    func other(_ kind: Kind, _ file: (application: Int, version: Int, says: String)) throws {
        try DatabaseQueue(inUse: self.path(kind)).writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    CREATE TABLE other (column TEXT); PRAGMA user_version = \(file.version);
                    PRAGMA application_id = \(file.application)
                    """)
        }
        let before = try Data(contentsOf: URL(filePath: self.path(kind)))
        let error = try #require(throws: FileFormatError.self) { _ = try self.open(kind) }
        for words in [self.path(kind), file.says, "up to \(kind.formatVersion)"] {
            #expect(error.description.contains(words))
        }
        #expect(try Data(contentsOf: URL(filePath: self.path(kind))) == before)
    }

    @Test("a new file has this build's format", arguments: Kind.allCases)
    func new(_ kind: Kind) async throws {
        let write = try self.open(kind)
        #expect(try await write())
        #expect(try self.isWritten(kind))
    }

    @Test("nobody but the owner can read a file, from its first byte on", arguments: Kind.allCases)
    func mode(_ kind: Kind) async throws {
        let mask = umask(0)
        defer { umask(mask) }
        let write = try self.open(kind)
        #expect(try await write())
        for file in ["", "-wal", "-shm"] {
            #expect(try self.mode(of: self.path(kind) + file) == 0o600, "\(file)")
        }
    }

    @Test("a file that others could read is theirs no longer", arguments: Kind.allCases)
    func tightened(_ kind: Kind) async throws {
        let first = try self.open(kind)
        #expect(try await first())
        let files = ["", "-wal", "-shm"].map { self.path(kind) + $0 }
        for file in files { chmod(file, 0o644) }
        let second = try self.open(kind)
        #expect(try await second())
        for file in files { #expect(try self.mode(of: file) == 0o600, "\(file)") }
    }

    @Test("what a group may read it may read while another program's lock delays the start")
    func groupDuringLock() async throws {
        let entry = try #require(getgrgid(getegid()))
        let group = try #require(UserGroup(named: String(cString: entry.pointee.gr_name)))
        let path = self.path(.hits)
        func open() throws -> DataFile {
            let format = DataFile.Format(version: 1, settings: "PRAGMA journal_mode = WAL") {
                try $0.execute(sql: "CREATE TABLE some (number)")
            }
            return try DataFile(
                path: path, format: format, busyTimeout: .zero, group: group, logger: nil)
        }
        _ = try open()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let holder = try DatabaseQueue(path: path, configuration: configuration)
        try await holder.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        let file = try open()
        await #expect(throws: DatabaseError.self) { try await file.write { _ in } }
        #expect(try self.mode(of: path) == 0o640)
        try await holder.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try await file.write { _ in }
        for end in ["", "-wal", "-shm"] { #expect(try self.mode(of: path + end) == 0o640) }
    }

    private func mode(of file: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test("a file that another program holds is opened once it lets go", arguments: Kind.allCases)
    func held(_ kind: Kind) async throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let holder = try DatabaseQueue(path: self.path(kind), configuration: configuration)
        try await holder.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        let write = try self.open(kind)
        #expect(try await write() == false)
        #expect(try await write() == false)
        try await holder.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try await write())
        #expect(try self.isWritten(kind))
    }

    @Test("what is no database is refused at once", arguments: Kind.allCases)
    func noDatabase(_ kind: Kind) throws {
        try Data(repeating: 1, count: 4096).write(to: URL(filePath: self.path(kind)))
        #expect(throws: DatabaseError.self) { _ = try self.open(kind) }
        try FileManager.default.removeItem(atPath: self.path(kind))
        try FileManager.default.createDirectory(
            atPath: self.path(kind), withIntermediateDirectories: false)
        #expect(throws: DatabaseError.self) { _ = try self.open(kind) }
    }
}
