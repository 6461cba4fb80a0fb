// Opening and closing: one process, safe settings, and nothing lost at the end.
internal import Foundation
@testable internal import Storage
internal import Synchronization
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules
internal import WireFormat

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

    @Test("segments are reused once a checkpoint is on disk: it is refused where it cannot be so")
    func settings() async throws {
        let journal = try Journal.open(self.directory)
        // Bytes 18 and 19 of a database are 2 in WAL mode. The check that refuses the journal below
        // reads `synchronous` back.
        let header = try Data(contentsOf: self.directory.journalFile("checkpoint.db")).prefix(20)
        #expect([UInt8](header.suffix(2)) == [2, 2])
        await journal.close()
        let error = #expect(throws: JournalError.self) {
            try CheckpointStore(path: ":memory:", queue: DispatchWorkQueue("test"))
        }
        guard case .unsafeSetting("journal_mode", "memory", "wal") = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("only its owner may read the journal")
    func permissions() async throws {
        let journal = try Journal.open(self.directory)
        await journal.commit(TestEvents.impression(1))
        await journal.settle()
        let files = FileManager.default
        #expect(try files.permissions(self.directory.journal) == 0o700)
        let names = try files.contentsOfDirectory(atPath: self.directory.journal)
        #expect(Set(names).isSuperset(of: ["checkpoint.db", "segment-1", "ballast"]))
        for name in names {
            #expect(try files.permissions(self.directory.journal + "/" + name) == 0o600, "\(name)")
        }
        await journal.close()
    }

    @Test("what is no database is refused with its path")
    func noDatabase() throws {
        try FileManager.default.createDirectory(
            atPath: self.directory.journal, withIntermediateDirectories: false)
        let file = self.directory.journalFile("checkpoint.db")
        try Data(repeating: 0x55, count: 100_000).write(to: file)
        let error = #expect(throws: JournalError.self) { try Journal.open(self.directory) }
        guard case .unusable(file.path, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a journal that cannot have its folder is refused with its path")
    func noFolder() throws {
        try Data().write(to: URL(filePath: self.directory.journal))
        let error = #expect(throws: JournalError.self) { try Journal.open(self.directory) }
        guard case .unusable(self.directory.journal, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("closing settles what is pending; what comes after is to be sent again")
    func close() async throws {
        var journal = try Journal.open(self.directory) { $0.maxGroupBytes = 1 }
        let requests = (1...5).map { AdmittedRequest.impressions([$0], sequence: $0) }
        let notes = RecordingReceiver()
        let gate = Gate()
        journal.queue.async { gate.wait() }
        for request in requests { journal.append([request], for: notes) }
        #expect(notes.notes.isEmpty)
        async let closed: Void = journal.close()
        gate.open()
        await closed
        #expect(notes.notes.filter { $0 != .ended } == (1...5).map { .settled($0) })
        #expect(requests.allSatisfy { !$0.isToRetry })
        let late = await journal.commit(AdmittedRequest.impressions([6]))
        #expect(late.verdicts == [.retryLater])

        journal = try Journal.open(self.directory)
        journal.finish()
        #expect(try await journal.sequences() == [1, 2, 3, 4, 5])
        #expect(await journal.commit(AdmittedRequest.impressions(1...6)).tally.duplicate == 5)
        await journal.close()
    }

    @Test("closing keeps the cursors that came last")
    func closeKeepsCursors() async throws {
        var journal = try Journal.open(self.directory)
        await journal.commit(TestEvents.impression(1))
        let gate = Gate()
        journal.queue.async { gate.wait() }
        journal.advance(sink: "a", to: 1)
        async let closed: Void = journal.close()
        gate.open()
        await closed
        journal = try Journal.open(self.directory)
        #expect(journal.cursor(of: "a") == 1)
        await journal.close()
    }

    @Test("a cursor that moves once the journal is closed is no failure")
    func cursorAfterClose() async throws {
        let failures = Atomic(0)
        let journal = try Journal(
            directory: self.directory.journal, sinks: [JournalSink("a")],
            onFailure: { _ in failures.add(1, ordering: .relaxed) })
        await journal.commit(TestEvents.impression(1))
        await journal.close()
        journal.advance(sink: "a", to: 1)
        await journal.checkpointer?.finish()
        #expect(failures.load(ordering: .relaxed) == 0)
    }

    @Test("the journal keeps its random name, and another journal has another")
    func identity() async throws {
        var journal = try Journal.open(self.directory)
        let identity = journal.identity
        #expect(identity.count == 32)
        await journal.close()
        journal = try Journal.open(self.directory)
        #expect(journal.identity == identity)
        await journal.close()
        journal = try Journal.open(self.directory, folder: "other")
        #expect(journal.identity != identity)
        await journal.close()
    }
}

extension FileManager {
    fileprivate func permissions(_ path: String) throws -> Int? {
        try self.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
}
