// journal.mode: off, where an ack means that every sink has the hits.
internal import Foundation
@testable internal import Storage
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct DisklessJournalTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private func journal(sinks: [JournalSink] = [JournalSink("a")], maxBytes: Int = 1 << 20) throws
        -> Journal
    {
        try Journal.open(self.directory, sinks: sinks) {
            $0.mode = .off
            $0.maxCachedBytes = maxBytes
        }
    }

    @Test("without a disk a request is settled once the slowest sink has it, and not before")
    func slowestSink() async throws {
        let journal = try self.journal(sinks: [JournalSink("a"), JournalSink("b")])
        let notes = RecordingReceiver()
        await journal.appendTogether([AdmittedRequest.impressions([1], sequence: 7)], for: notes)
        #expect(try await journal.batch(after: 0)?.eventCount == 1)
        journal.advance(sink: "a", to: 1)
        await journal.settle()
        #expect(notes.notes == [])
        journal.advance(sink: "b", to: 1)
        await journal.settle()
        #expect(notes.notes == [.settled(7), .ended])
        #expect(journal.storedBytes == 0)
        await journal.close()
        #expect(!FileManager.default.fileExists(atPath: self.directory.path + "/journal"))
    }

    @Test("what no sink has when the journal closes is to be sent again")
    func closing() async throws {
        let journal = try self.journal()
        let request = AdmittedRequest.impressions([1])
        await journal.appendTogether([request], for: RecordingReceiver())
        await journal.close()
        #expect(request.verdicts == [.retryLater])
    }

    @Test("what waits for a sink when the journal gives up is to be sent again, and what follows")
    func givingUp() async throws {
        let journal = try self.journal()
        let request = AdmittedRequest.impressions([1])
        let notes = RecordingReceiver()
        await journal.appendTogether([request], for: notes)
        #expect(notes.notes == [])
        await journal.giveUp()
        #expect(notes.notes.last == .ended && request.verdicts == [.retryLater])
        #expect(await journal.commit(AdmittedRequest.impressions([2])).verdicts == [.retryLater])
        // The sink may still take what it was sent.
        #expect(try await journal.batch(after: 0)?.eventCount == 1)
        journal.advance(sink: "a", to: 1)
        await journal.close()
        #expect(notes.notes.count == 2, "it is settled once")
        let onDisk = try Journal.open(self.directory)
        await onDisk.giveUp()
        #expect(await onDisk.commit(AdmittedRequest.impressions([1])).verdicts == [.accepted])
        await onDisk.close()
    }

    @Test("journal.cache_bytes bounds what waits in memory: at it, and one byte beyond")
    func bounded() async throws {
        let requests = (0..<3).map { AdmittedRequest.impressions([0x100 + $0]) }
        let journal = try self.journal(maxBytes: requests[0].journalBytes * 2)
        await journal.appendTogether(Array(requests[..<2]), for: RecordingReceiver())
        #expect(await journal.commit(requests[2]).verdicts == [.retryLater])
        journal.advance(sink: "a", to: journal.lastSequence)
        await journal.settle()
        #expect(requests[0].verdicts == [.accepted])
        await journal.close()
    }

    @Test("without a disk forwarders run on the journal's queue, and anywhere with one")
    func forwarderExecutor() async throws {
        let journal = try self.journal()
        let executor = try #require(journal.forwarderExecutor)
        let queue = try #require(journal.queue as? DispatchWorkQueue).queue
        await Task(executorPreference: executor) {
            dispatchPrecondition(condition: .onQueue(queue))
        }.value
        await journal.close()
        let onDisk = try Journal.open(self.directory)
        #expect(onDisk.forwarderExecutor == nil)
        await onDisk.close()
    }

    @Test("a request without hits waits for no sink")
    func withoutHits() async throws {
        let journal = try self.journal()
        #expect(await journal.commit(AdmittedRequest.of([])).verdicts == [])
        await journal.close()
    }

    @Test("a journal is nearly full above four fifths of its limit")
    func nearlyFull() async throws {
        let requests = (0..<5).map { AdmittedRequest.impressions([0x100 + $0]) }
        let journal = try Journal.open(self.directory) {
            $0.maxBytes = requests[0].journalBytes * 5
        }
        for request in requests[..<4] { await journal.commit(request) }
        #expect(!journal.isNearlyFull)
        await journal.commit(requests[4])
        #expect(journal.isNearlyFull)
        await journal.close()
    }
}
