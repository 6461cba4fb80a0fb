// Opening and closing: one process, safe settings, and nothing lost at the end.
internal import Foundation
internal import Testing
internal import TrackingCore
@testable internal import TrackingJournal

struct JournalLifeTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    @Test("a second lock on a data directory is refused, and names who holds it")
    func lock() throws {
        let directory = self.directory.path + "/new/data"
        var first: DirectoryLock? = try DirectoryLock(directory: directory)
        #expect(first != nil)
        let error = #expect(throws: JournalError.self) {
            try DirectoryLock(directory: directory)
        }
        guard
            case .locked(directory, "process \(ProcessInfo.processInfo.processIdentifier)") = error
        else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error.map { "\($0)".contains("--data-dir") } == true)
        first = nil
        #expect(throws: Never.self) { try DirectoryLock(directory: directory) }
    }

    @Test("a directory that cannot be made is unusable, with its path")
    func unusable() throws {
        let file = self.directory.path + "/file"
        try Data().write(to: URL(filePath: file))
        let error = #expect(throws: JournalError.self) {
            try DirectoryLock(directory: file + "/data")
        }
        #expect(error.map { "\($0)".contains(file + "/data") } == true)
    }

    @Test("acks rest on a write-ahead log: the journal opens with one, and refuses to do without")
    func settings() async throws {
        let journal = try Journal.open(self.directory)
        // Bytes 18 and 19 of a database are 2 where it is written through a write-ahead log. That
        // `synchronous` is 2 is read back by the very check that refuses the journal below.
        let header = try Data(contentsOf: URL(filePath: self.directory.journal)).prefix(20)
        #expect([UInt8](header.suffix(2)) == [2, 2])
        #expect(FileManager.default.fileExists(atPath: self.directory.journal + "-wal"))
        await journal.close()
        let error = #expect(throws: JournalError.self) {
            try JournalStore(path: ":memory:", checkpointBytes: 1 << 20)
        }
        guard case .unsafeSetting("journal_mode", "memory", "wal") = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("only its owner may read the journal")
    func permissions() async throws {
        let journal = try Journal.open(self.directory)
        let attributes = try FileManager.default.attributesOfItem(atPath: self.directory.journal)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        await journal.close()
    }

    @Test("what is no database is refused with its path")
    func noDatabase() throws {
        try Data(repeating: 0x55, count: 100_000).write(to: URL(filePath: self.directory.journal))
        let error = #expect(throws: JournalError.self) { try Journal.open(self.directory) }
        guard case .unusable(self.directory.journal, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("closing settles what is pending; what comes after is to be sent again")
    func close() async throws {
        var journal = try Journal.open(self.directory) { $0.maxGroupBytes = 1 }
        let requests = (1...5).map { TestRequests.impressions([$0], sequence: $0) }
        let notes = RecordingReceiver()
        let gate = Gate()
        journal.store.async { gate.wait() }
        for request in requests { journal.append([request], for: notes) }
        #expect(notes.notes.isEmpty)
        async let closed: Void = journal.close()
        gate.open()
        await closed
        #expect(notes.notes.filter { $0 != .ended } == (1...5).map { .settled($0) })
        #expect(requests.allSatisfy { !$0.isToRetry })
        let late = await journal.commit(TestRequests.impressions([6]))
        #expect(late.verdicts == [.retryLater])

        journal = try Journal.open(self.directory)
        journal.finish()
        #expect(try await journal.sequences() == [1, 2, 3, 4, 5])
        #expect(await journal.commit(TestRequests.impressions(1...6)).tally.duplicate == 5)
        await journal.close()
    }

    @Test("closing keeps the cursors that came last")
    func closeKeepsCursors() async throws {
        var journal = try Journal.open(self.directory)
        await journal.commit(TestEvents.impression(1))
        let gate = Gate()
        journal.store.async { gate.wait() }
        journal.advance(sink: "a", to: 1)
        async let closed: Void = journal.close()
        gate.open()
        await closed
        journal = try Journal.open(self.directory)
        #expect(journal.cursor(of: "a") == 1)
        await journal.close()
    }

    @Test("the journal keeps its random name, and another file has another")
    func identity() async throws {
        var journal = try Journal.open(self.directory)
        let identity = journal.identity
        #expect(identity.count == 32)
        await journal.close()
        journal = try Journal.open(self.directory)
        #expect(journal.identity == identity)
        await journal.close()
        journal = try Journal.open(self.directory, file: "other.db")
        #expect(journal.identity != identity)
        await journal.close()
    }

    @Test("a checkpoint moves the log into the file, and loses nothing")
    func checkpoint() async throws {
        let journal = try Journal.open(self.directory) {
            $0.checkpointBytes = 1000
            $0.maxCachedBytes = 0
        }
        for id in 1...50 { await journal.commit(TestEvents.impression(id)) }
        let log = try Data(contentsOf: URL(filePath: self.directory.journal + "-wal")).count
        let file = try Data(contentsOf: URL(filePath: self.directory.journal)).count
        #expect(file > 16384)
        // 50 commits of two pages each would be far more.
        #expect(log < 60 * 16384)
        journal.finish()
        #expect(try await journal.sequences() == (1...50).map { Int64($0) })
        await journal.close()
    }
}
