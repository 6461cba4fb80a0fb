// What the journal stores, releases and refuses at its limit.
internal import Foundation
internal import SightlineProtos
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct JournalLimitTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// Requests of the same size.
    private func requests(_ count: Int) -> [AdmittedRequest] {
        (0..<count).map { AdmittedRequest.impressions([0x100 + $0]) }
    }

    @Test("journal.max_bytes: a journal at the limit takes nothing, until a cursor advances")
    func maxBytes() async throws {
        let requests = self.requests(3)
        let journal = try Journal.open(self.directory) {
            $0.maxBytes = requests[0].journalBytes * 2
        }
        for request in requests[..<2] {
            #expect(await journal.commit(request).verdicts == [.accepted])
        }
        #expect(journal.storedBytes == journal.configuration.maxBytes)
        #expect(await journal.commit(requests[2]).isToRetry)
        #expect(requests[2].verdicts == [.retryLater])
        #expect(requests[2].tally.retryLater == 1)
        #expect(journal.lastSequence == 2)
        journal.advance(sink: "a", to: 1)
        await journal.settle()
        #expect(journal.storedBytes == requests[0].journalBytes)
        // The client resends: the accepted events were undone, so it is not a duplicate (D17).
        let again = AdmittedRequest.impressions([0x102])
        #expect(await journal.commit(again).verdicts == [.accepted])
        await journal.close()
    }

    @Test("journal.max_bytes: one byte less than two requests refuses the second")
    func oneByteLess() async throws {
        let requests = self.requests(2)
        let journal = try Journal.open(self.directory) {
            $0.maxBytes = requests[0].journalBytes * 2 - 1
        }
        #expect(await journal.commit(requests[0]).verdicts == [.accepted])
        #expect(await journal.commit(requests[1]).verdicts == [.retryLater])
        await journal.close()
    }

    @Test("journal.max_bytes counts what earlier runs left")
    func maxBytesAfterRestart() async throws {
        let requests = self.requests(2)
        let limit = requests[0].journalBytes
        var journal = try Journal.open(self.directory) { $0.maxBytes = limit }
        await journal.commit(requests[0])
        await journal.close()
        journal = try Journal.open(self.directory) { $0.maxBytes = limit }
        #expect(journal.storedBytes == limit)
        #expect(await journal.commit(requests[1]).isToRetry)
        await journal.close()
    }

    @Test("D17: a refused group's acceptedEvents are taken back, what was known before stays known")
    func undo() async throws {
        let first = AdmittedRequest.of([TestEvents.push(.received, id: 1)])
        let journal = try Journal.open(self.directory) { $0.maxBytes = first.journalBytes }
        await journal.commit(first)
        let refused = AdmittedRequest.of([
            TestEvents.push(.received, id: 1), TestEvents.push(.dismissed, id: 1),
            TestEvents.push(.opened, id: 2),
        ])
        await journal.commit(refused)
        #expect(refused.verdicts == [.retryLater, .retryLater, .retryLater])
        journal.advance(sink: "a", to: 1)
        await journal.settle()
        let opened = AdmittedRequest.of([
            TestEvents.push(.received, id: 1), TestEvents.action(.open, id: 1),
            TestEvents.action(.open, id: 2),
        ])
        let settled = await journal.preview(opened.acceptedEvents)
        #expect(settled.map(\.granted.isEmpty) == [true, false, false])
        // The refused dismissal and clicks left no marks.
        #expect(settled[1].warnings.contains(.openWithoutClick))
        #expect(!settled[1].warnings.contains(.openAfterDismiss))
        #expect(settled[2].warnings.contains(.openWithoutClick))
        await journal.close()
    }

    @Test("a row goes when the slowest sink has it, not before")
    func everySink() async throws {
        let journal = try Journal.open(
            self.directory, sinks: [JournalSink("fast"), JournalSink("slow")])
        let requests = self.requests(3)
        for request in requests { await journal.commit(request) }
        let bytes = requests[0].journalBytes
        let steps: [(sink: String, sequence: Int64, rows: Int)] = [
            ("fast", 3, 3), ("slow", 1, 2), ("other", 3, 2), ("slow", 3, 0),
        ]
        for step in steps {
            journal.advance(sink: step.sink, to: step.sequence)
            await journal.settle()
            #expect(journal.storedBytes == bytes * step.rows, "\(step)")
        }
        await journal.close()
    }

    @Test("a cursor survives a restart, never goes back, and a new sink starts at 0")
    func cursors() async throws {
        var journal = try Journal.open(self.directory, sinks: [JournalSink("a"), JournalSink("b")])
        for request in self.requests(2) { await journal.commit(request) }
        journal.advance(sink: "a", to: 2)
        journal.advance(sink: "a", to: 1)
        await journal.settle()
        await journal.close()
        journal = try Journal.open(self.directory, sinks: [JournalSink("a"), JournalSink("b")])
        #expect(journal.cursor(of: "a") == 2)
        #expect(journal.cursor(of: "b") == 0)
        #expect(journal.lastSequence == 2)
        #expect(try await journal.batch(after: 0)?.sequence == 1)
        await journal.close()
    }

    @Test("a time leads to what is before the oldest kept group since then, or else to the newest")
    func times() async throws {
        let journal = try Journal.open(self.directory)
        #expect(journal.sequence(before: 0) == 0)
        for request in self.requests(2) { await journal.commit(request) }
        let oldest = try #require(journal.oldestTime)
        for time in [0, oldest] { #expect(journal.sequence(before: time) == 0) }
        #expect(journal.sequence(before: .max) == 2)
        journal.advance(sink: "a", to: 1)
        await journal.settle()
        #expect(journal.sequence(before: 0) == 1)
        await journal.close()
    }

    @Test("a sequence is never used twice, also when every row has gone")
    func sequences() async throws {
        for run in 1...3 {
            let journal = try Journal.open(self.directory)
            let before = journal.lastSequence
            await journal.commit(TestEvents.impression(run))
            #expect(journal.lastSequence > before)
            journal.advance(sink: "a", to: journal.lastSequence)
            await journal.settle()
            #expect(journal.storedBytes == 0)
            await journal.close()
        }
    }
}
