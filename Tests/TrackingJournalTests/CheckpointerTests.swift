// Checkpoints that a call waits for.
internal import Foundation
internal import Storage
internal import Synchronization
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct CheckpointerTests {
    @Test("a checkpoint that is waited for gets at once all the room that can be made")
    func room() async throws {
        let directory = try TemporaryDirectory()
        let journal = try Journal.open(directory) { configuration in
            configuration.preparedSegments = 2
            configuration.segmentBytes = 1 << 20
            // The only checkpoints are those that are asked for.
            configuration.checkpointMilliseconds = 60_000
        }
        let checkpointer = try #require(journal.checkpointer)
        try await checkpointer.store.limit(pages: 1)
        // The window's keys need further pages.
        await journal.commit(AdmittedRequest.impressions(1...1000))
        await checkpointer.finish()
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.journal)
        #expect(names.contains("segment-1"))
        #expect(!names.contains("segment-2") && !names.contains("ballast"), "\(names)")
        try await checkpointer.store.limit(pages: 1 << 30)
        await journal.close()
    }

    /// Does its work when a test says so; apart from it, what is delayed.
    private final class ManualQueue: WorkQueue {
        private let waiting = Mutex<[@Sendable () -> Void]>([])
        private let delayed = Mutex<[@Sendable () -> Void]>([])

        func async(_ work: @escaping @Sendable () -> Void) {
            self.waiting.withLock { $0.append(work) }
        }

        func async(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
            self.delayed.withLock { $0.append(work) }
        }

        /// Does what waits, and what is enqueued by that.
        func run() {
            while let work = self.next() { work() }
        }

        private func next() -> (@Sendable () -> Void)? {
            self.waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }

        /// Does what is delayed.
        func fire() {
            let due = self.delayed.withLock { delayed in
                defer { delayed = [] }
                return delayed
            }
            for work in due { work() }
        }
    }

    @Test("a timer that fires while the file is closed is no failure of the disk")
    func timerAtTheEnd() async throws {
        let directory = try TemporaryDirectory()
        let (queue, clock) = (ManualQueue(), TestClock())
        let failures = Atomic(0)
        var configuration = Journal.Configuration.test()
        configuration.retainSeconds = 1
        var machine = Machine.local
        machine.now = { clock.now }
        machine.makeQueue = { _ in queue }
        let journal = try Journal(
            directory: directory.journal, sinks: [JournalSink("a")], configuration: configuration,
            machine: machine, onFailure: { _ in failures.add(1, ordering: .relaxed) })
        let checkpointer = try #require(journal.checkpointer)
        journal.append([AdmittedRequest.impressions([1])], for: RecordingReceiver())
        queue.run()
        journal.advance(sink: "a", to: 1)
        let closing = Task.immediate { await checkpointer.close() }
        queue.run()
        // The group may be released by now, which no checkpoint says yet.
        clock.advance(by: .seconds(2))
        queue.fire()
        await closing.value
        queue.run()
        #expect(failures.load(ordering: .relaxed) == 0)
    }
}
