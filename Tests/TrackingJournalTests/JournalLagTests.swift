// The journal's figures: the backlog of its sinks, and the duration of its commits.
internal import Synchronization
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct JournalLagTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    @Test(
        "a sink's lag is what it has not confirmed, on disk and without one",
        arguments: [
            Journal.Mode.disk, .off,
        ])
    func lag(_ mode: Journal.Mode) async throws {
        let journal = try Journal.open(self.directory, sinks: [JournalSink("a"), JournalSink("b")])
        {
            $0.mode = mode
            $0.retainSeconds = 3600
        }
        let start = Machine.local.wallTime()
        for id in 1...3 {
            await journal.appendTogether(
                [AdmittedRequest.impressions([id])], for: RecordingReceiver())
        }
        let oldest = try #require(journal.oldestTime)
        #expect(oldest >= start && oldest <= Machine.local.wallTime())
        let bytes = journal.storedBytes
        let all = Journal.Lag(groups: 3, bytes: bytes, oldestTime: oldest)
        #expect(journal.lag(of: "a") == all)
        journal.advance(sink: "a", to: 2)
        #expect(journal.lag(of: "a").groups == 1)
        #expect(journal.lag(of: "a").bytes == bytes / 3)
        #expect(try #require(journal.lag(of: "a").oldestTime) >= oldest)
        #expect(journal.lag(of: "b") == all)
        journal.advance(sink: "b", to: journal.lastSequence)
        journal.advance(sink: "a", to: journal.lastSequence)
        await journal.settle()
        #expect(journal.lag(of: "a") == Journal.Lag(groups: 0, bytes: 0, oldestTime: nil))
        // Rows are retained for another hour, if there are any.
        #expect((journal.oldestTime == nil) == (mode == .off))
        await journal.close()
    }

    @Test("commits that only move a cursor make no lag, and a restart forgets none")
    func restart() async throws {
        var journal = try Journal.open(self.directory)
        await journal.commit(AdmittedRequest.impressions([1]))
        journal.advance(sink: "a", to: 1)
        await journal.settle()
        await journal.commit(AdmittedRequest.impressions([2]))
        #expect(journal.lag(of: "a").groups == 1)
        let lag = journal.lag(of: "a")
        #expect(lag.bytes > 0 && lag.oldestTime == journal.oldestTime)
        await journal.close()
        journal = try Journal.open(self.directory)
        #expect(journal.lag(of: "a") == lag)
        await journal.close()
    }

    @Test("each group's commit is told once, and a request knows when it was settled")
    func commits() async throws {
        let told = Mutex<[Duration]>([])
        let journal = try Journal(
            directory: self.directory.path + "/journal", sinks: [JournalSink("a")],
            onCommit: { duration in told.withLock { $0.append(duration) } },
            onFailure: { _ in })
        let request = AdmittedRequest.impressions([1])
        #expect(request.settleTime == 0)
        let start = Machine.local.wallTime()
        await journal.commit(request)
        #expect(request.settleTime >= start)
        // A request without hits needs no commit.
        await journal.commit(AdmittedRequest.of([]))
        #expect(told.withLock { $0.count } == 1)
        #expect(told.withLock { $0.allSatisfy { $0 > .zero } })
        await journal.close()
        let late = AdmittedRequest.impressions([2])
        #expect(await journal.commit(late).settleTime >= start)
    }
}
