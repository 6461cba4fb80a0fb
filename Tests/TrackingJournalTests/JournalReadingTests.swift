// How forwarders read the journal: in order, from memory or from disk, until it ends.
internal import Foundation
internal import Synchronization
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

/// Runs a task's jobs when the test asks for them.
private final class SteppedExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.jobs.withLock { $0.append(job) }
    }

    /// Runs one job; false if there is none.
    func step() -> Bool {
        let job = self.jobs.withLock { jobs in jobs.isEmpty ? nil : jobs.removeFirst() }
        job?.runSynchronously(on: self.asUnownedTaskExecutor())
        return job != nil
    }
}

struct JournalReadingTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    @Test(
        "batches come in order and byte for byte, from memory or from disk",
        arguments: [0, 1 << 20])
    func order(maxCachedBytes: Int) async throws {
        var journal = try Journal.open(self.directory) { $0.maxCachedBytes = maxCachedBytes }
        let requests = (1...20).map { AdmittedRequest.impressions([$0]) }
        for request in requests { await journal.commit(request) }
        for isReopened in [false, true] {
            if isReopened {
                await journal.close()
                journal = try Journal.open(self.directory)
            }
            journal.finish()
            for (index, request) in requests.enumerated() {
                let batch = try #require(try await journal.batch(after: Int64(index)))
                #expect(batch.sequence == Int64(index + 1))
                #expect(batch.payload == request.block)
                #expect(!batch.isDamaged)
            }
            #expect(try await journal.batch(after: 20) == nil)
        }
        await journal.close()
    }

    @Test("who asks for a batch that is not there yet gets it when it comes, and nil at the end")
    func waiting() async throws {
        let journal = try Journal.open(self.directory)
        let reading = Task { try await journal.sequences() }
        for id in 1...10 { await journal.commit(TestEvents.impression(id)) }
        journal.finish()
        #expect(try await reading.value == Array(1...10))
        await journal.close()
    }

    @Test("closing ends the wait of who is at the end")
    func closing() async throws {
        let journal = try Journal.open(self.directory)
        let waiting = [0, 5].map { sequence in
            Task { try await journal.batch(after: Int64(sequence)) }
        }
        await journal.close()
        for task in waiting { #expect(try await task.value == nil) }
    }

    @Test("a batch that is committed while a forwarder finds its own row gone is not passed over")
    func gap() async throws {
        var journal = try Journal.open(self.directory)
        await journal.commit(TestEvents.impression(1))
        journal.advance(sink: "a", to: 1)
        await journal.settle()
        await journal.close()
        // A new sink starts at 0, and row 1 has been deleted.
        journal = try Journal.open(self.directory, sinks: [JournalSink("a"), JournalSink("b")])
        #expect(journal.storedBytes == 0)
        let executor = SteppedExecutor()
        let reopened = journal
        let reading = Task(executorPreference: executor) { try await reopened.batch(after: 0) }
        while executor.step() {}
        // The reader has seen that the row is missing, but its task has not resumed.
        await journal.commit(TestEvents.impression(2))
        await journal.settle()
        let isRead = Atomic(false)
        journal.finish()
        async let batch = {
            defer { isRead.store(true, ordering: .releasing) }
            return try await reading.value
        }()
        while !isRead.load(ordering: .acquiring) { if !executor.step() { await Task.yield() } }
        #expect(try await batch?.sequence == journal.lastSequence)
        await journal.close()
    }

    @Test("a flipped bit in a stored payload is told by the batch, and by no other")
    func damage() async throws {
        let segment = self.directory.journalFile("segment-1")
        var journal = try Journal.open(self.directory)
        for id in [0xaaaa, 0xbbbb, 0xcccc] { await journal.commit(TestEvents.impression(id)) }
        await journal.close()
        var file = try Data(contentsOf: segment)
        let place = try #require(file.firstRange(of: Data("hbbbb".utf8)))
        #expect(file.lastRange(of: Data("hbbbb".utf8)) == place)
        file[place.lowerBound] ^= 1
        try file.write(to: segment)
        journal = try Journal.open(self.directory)
        for (sequence, isDamaged) in [(0, false), (1, true), (2, false)] {
            #expect(try await journal.batch(after: Int64(sequence))?.isDamaged == isDamaged)
        }
        await journal.close()
    }
}
