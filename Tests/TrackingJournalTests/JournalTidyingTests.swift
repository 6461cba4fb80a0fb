// What the journal writes besides payload, and when.
internal import Foundation
internal import Testing
internal import TrackingCore
@testable internal import TrackingJournal

@Suite(.timeLimit(.minutes(1)))
struct JournalTidyingTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// Bytes of the log, which the checkpoint that is never due here leaves alone.
    private var logBytes: Int {
        get throws {
            try Data(contentsOf: URL(filePath: self.directory.journal + "-wal")).count
        }
    }

    @Test("deleting a delivered payload does not write it once more")
    func deletion() async throws {
        let journal = try Journal.open(self.directory) { $0.windowCapacity = 20_000 }
        for first in stride(from: 1, to: 20_000, by: 1000) {
            await journal.commit(TestRequests.impressions(first..<first + 1000))
        }
        let payload = journal.storedBytes
        let before = try self.logBytes
        journal.advance(sink: "a", to: journal.lastSequence)
        await journal.settle()
        #expect(journal.storedBytes == 0)
        #expect(payload > 500_000)
        #expect(try self.logBytes - before < payload / 4)
        await journal.close()
    }

    @Test("a cursor that moves is written without another group")
    func cursor() async throws {
        let journal = try Journal.open(self.directory)
        await journal.commit(TestEvents.impression(1))
        journal.advance(sink: "a", to: 1)
        // Its row goes with it.
        while journal.storedBytes > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(try journal.store.batch(after: 0) == nil)
        await journal.close()
    }

    @Test(
        "journal.checkpoint_bytes: the log is moved at its limit, at an eighth where nobody waits",
        arguments: [
            (1, 0, false, true), (1, 1, false, false), (8, 0, true, true), (8, 8, true, false),
            (8, 0, false, false),
        ])
    func checkpoint(_ factor: Int, _ more: Int, _ isIdle: Bool, _ isMoved: Bool) throws {
        let written = try self.logBytes(factor: 1 << 20, more: 0, isIdle: false)
        #expect(written > 0 && written % 16384 == 0)
        let left = try self.logBytes(of: written, factor: factor, more: more, isIdle: isIdle)
        #expect(left == (isMoved ? 0 : written))
    }

    /// Bytes that stand in the log of a new journal after one commit and the checkpoint that may
    /// follow it, where the limit is `factor` times `bytes` and `more`.
    private func logBytes(
        of bytes: Int = 16384, factor: Int, more: Int, isIdle: Bool
    ) throws -> Int {
        let store = try JournalStore(
            path: self.directory.path + "/\(factor).db", checkpointBytes: bytes * factor + more)
        defer { store.close() }
        let outcome = store.commit(
            JournalStore.Commit(
                sequence: 1, payload: [1, 2, 3], eventCount: 1, recentRow: [], createTime: 1,
                cursors: [:], deleteThrough: 0, forgetThrough: 0))
        guard case .durable = outcome else {
            Issue.record("\(outcome)")
            return -1
        }
        try store.checkpointIfDue(isIdle: isIdle)
        return store.logBytes
    }

    /// A commit of one event at a time, with every earlier row delivered.
    @Test("while groups come, delivered rows go a stride at a time")
    func deletionStride() throws {
        var configuration = Journal.Configuration()
        configuration.windowCapacity = 1000
        let row = TestRequests.impressions([1]).journalBytes
        // The stride is a 64th of the journal: three rows.
        configuration.maxBytes = 3 * row * 64
        let store = try JournalStore(path: self.directory.journal, checkpointBytes: 1 << 30)
        let window = RecentHits(capacity: configuration.windowCapacity)
        let writer = JournalWriter(
            store: store, window: window, contents: try store.open(restoring: window),
            sinks: ["a"], configuration: configuration, now: { .now })
        var kept: [Int] = []
        for id in 1...7 {
            let outcome = writer.commit([
                Journal.Submission(
                    requests: [TestRequests.impressions([id])], receiver: RecordingReceiver())
            ])
            guard case .durable = outcome else { Issue.record("\(outcome)"); return }
            kept.append(writer.storedBytes / row)
            writer.advance(sink: "a", to: SinkCursor(sequence: Int64(id)))
        }
        #expect(kept == [1, 2, 3, 1, 2, 3, 1])
        // A turn without a group takes what is left.
        guard case .nothing = writer.commit([]) else { Issue.record("not idle"); return }
        #expect(writer.storedBytes == 0)
        store.close()
    }
}
