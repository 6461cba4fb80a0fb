// Group commit: what is settled together, and when.
internal import Storage
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

/// Appends further requests when its own is settled, on the journal's queue.
private final class AppendingReceiver: SettlementReceiver {
    private let journal: Journal
    private let further: [AdmittedRequest]
    private let receiver: any SettlementReceiver

    init(_ journal: Journal, _ further: [AdmittedRequest], for receiver: any SettlementReceiver) {
        self.journal = journal
        self.further = further
        self.receiver = receiver
    }

    func settled(_ requests: [AdmittedRequest]) {
        self.receiver.settled(requests)
        for request in self.further { self.journal.append([request], for: self.receiver) }
    }

    func commitEnded() { self.receiver.commitEnded() }
}

struct GroupCommitTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private func request(_ sequence: Int) -> AdmittedRequest {
        AdmittedRequest.impressions([sequence], sequence: sequence)
    }

    @Test("what arrives during a commit is the next group, in order of arrival")
    func nextGroup() async throws {
        let journal = try Journal.open(self.directory)
        let notes = RecordingReceiver()
        let first = AppendingReceiver(journal, (2...5).map { self.request($0) }, for: notes)
        await journal.appendTogether([self.request(1)], for: first)
        await journal.settle()
        #expect(
            notes.notes == [
                .settled(1), .ended, .settled(2), .settled(3), .settled(4), .settled(5), .ended,
            ])
        journal.finish()
        #expect(try await journal.sequences() == [1, 2])
        #expect(try await journal.batch(after: 0)?.eventCount == 1)
        let second = try #require(try await journal.batch(after: 1))
        #expect(second.eventCount == 4)
        #expect(try second.events == (2...5).map { try TestEvents.impression($0).bytes() })
        await journal.close()
    }

    @Test("a group of many requests is one row, and each request is settled once")
    func oneRow() async throws {
        let journal = try Journal.open(self.directory)
        let notes = RecordingReceiver()
        await journal.appendTogether((1...100).map { self.request($0) }, for: notes)
        let settled = notes.notes.filter { $0 != .ended }
        #expect(settled == (1...100).map { .settled($0) })
        #expect(Array(notes.notes.prefix(100)) == settled)
        #expect(journal.lastSequence == 1)
        await journal.close()
    }

    @Test("a group ends where its bytes reach the limit; one request may go beyond it")
    func groupBytes() async throws {
        let requests = (1...5).map { self.request($0) }
        let journal = try Journal.open(self.directory) {
            // Room for two: the limit is reached within the second.
            $0.maxGroupBytes = requests[0].journalBytes + requests[1].journalBytes - 1
        }
        let notes = RecordingReceiver()
        await journal.appendTogether(requests, for: notes)
        await journal.settle()
        await journal.settle()
        journal.finish()
        #expect(try await journal.sequences() == [1, 2, 3])
        #expect(notes.notes.filter { $0 != .ended } == (1...5).map { .settled($0) })
        await journal.close()

        let small = try Journal.open(self.directory, folder: "small") { $0.maxGroupBytes = 1 }
        #expect(await small.commit(TestEvents.impression(1)) == [.accepted])
        await small.close()
    }

    @Test("a tenant's request is committed with the next group, whatever another has waiting")
    func turns() async throws {
        let requests = (1...20).map {
            AdmittedRequest.impressions([$0, 100 + $0], sequence: $0, tenant: "loud")
        }
        let late = AdmittedRequest.impressions([1000], sequence: 21, tenant: "quiet")
        let journal = try Journal.open(self.directory) {
            $0.maxGroupBytes = requests[0].journalBytes * 3
        }
        let (notes, others) = (RecordingReceiver(), RecordingReceiver())
        // The first group is committed, then the late one comes, behind sixteen others.
        let first = AppendingReceiver(journal, [late], for: others)
        let gate = Gate()
        journal.queue.async { gate.wait() }
        journal.append([requests[0]], for: first)
        for request in requests.dropFirst() { journal.append([request], for: notes) }
        gate.open()
        for _ in 0..<10 { await journal.settle() }
        journal.finish()
        #expect(others.notes.filter { $0 != .ended } == [.settled(1), .settled(21)])
        #expect(notes.notes.filter { $0 != .ended } == (2...20).map { .settled($0) })
        let second = try #require(try await journal.batch(after: 1))
        #expect(try second.events.first == TestEvents.impression(1000).bytes())
        await journal.close()
    }

    @Test("a request without accepted events is settled and leaves no row")
    func nothingAccepted() async throws {
        let journal = try Journal.open(self.directory)
        let request = AdmittedRequest.of([], broken: [0x0a])
        #expect(request.tally.rejected == 1)
        await journal.commit(request)
        #expect(!request.isToRetry)
        #expect(journal.lastSequence == 0)
        await journal.close()
    }
}
