// Sinks that come and go while the journal is open.
internal import Synchronization
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct JournalSinksTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private func open(_ sinks: JournalSink...) throws -> Journal {
        try Journal.open(self.directory, sinks: sinks) { configuration in
            // Groups of one request each.
            configuration.maxGroupBytes = 1
        }
    }

    private func commit(_ numbers: ClosedRange<Int>, _ journal: Journal) async {
        for number in numbers { await journal.commit(TestEvents.impression(number)) }
        await journal.settle()
    }

    @Test("a sink that is added begins where it says, and groups are kept for it")
    func added() async throws {
        let journal = try self.open(JournalSink("first"))
        await self.commit(1...2, journal)
        await journal.use([
            JournalSink("first"), JournalSink("old"), JournalSink("new", start: .newest),
        ])
        // Durable before any forwarder can ask.
        let saved = try CheckpointStore.contents(copiedFrom: self.directory)
        #expect(saved.sinks.mapValues(\.cursor.sequence) == ["first": 0, "old": 0, "new": 2])
        journal.advance(sink: "first", to: 2)
        await self.commit(3...3, journal)
        #expect(journal.lag(of: "first").groups == 1)
        #expect(journal.lag(of: "old").groups == 3)
        #expect(journal.lag(of: "new").groups == 1)
        await journal.close()
    }

    @Test("a sink that is removed holds nothing back, and comes back with a gap")
    func removed() async throws {
        let journal = try self.open(JournalSink("first"), JournalSink("second"))
        await self.commit(1...2, journal)
        journal.advance(sink: "second", to: 1)
        await journal.use([JournalSink("first")])
        #expect(journal.formerSinks == ["second"])
        #expect(journal.storedSinks == ["first", "second"])
        journal.advance(sink: "first", to: 2)
        await self.commit(3...3, journal)
        #expect(journal.storedBytes > 0 && journal.lag(of: "first").groups == 1)
        await journal.use([JournalSink("first"), JournalSink("second")])
        #expect(journal.formerSinks == [])
        let next = try await journal.batches(for: "second", after: 1, upTo: .oneGroup)?.first
        #expect(next?.loss?.sequences == 2...2)
        await journal.close()
    }

    @Test(
        "a forgotten sink begins anew, also where a checkpoint had its place",
        arguments: [false, true])
    func forgotten(isReopened: Bool) async throws {
        var journal = try self.open(JournalSink("first"), JournalSink("second"))
        await self.commit(1...2, journal)
        journal.advance(sink: "second", to: 2, resumeToken: "there")
        #expect(await journal.forget(sink: "second") == false, "it is in use")
        await journal.use([JournalSink("first")])
        #expect(await journal.forget(sink: "none") == false)
        #expect(await journal.forget(sink: "second"))
        #expect(await journal.forget(sink: "second") == false)
        #expect(journal.formerSinks == [])
        let saved = try CheckpointStore.contents(copiedFrom: self.directory)
        #expect(saved.sinks.keys.sorted() == ["first"])
        let sinks = [JournalSink("first"), JournalSink("second")]
        if isReopened {
            await journal.close()
            journal = try Journal.open(self.directory, sinks: sinks)
        } else {
            await journal.use(sinks)
        }
        #expect(journal.lag(of: "second").groups == 2)
        #expect(journal.resumeToken(of: "second") == "")
        await journal.close()
    }

    @Test("a reader that is cancelled gets no more, and the others go on")
    func cancelled() async throws {
        let journal = try self.open(JournalSink("first"), JournalSink("second"))
        let waiting = Task {
            try await journal.batches(for: "first", after: 0, upTo: .oneGroup)
        }
        let other = Task {
            try await journal.batches(for: "second", after: 0, upTo: .oneGroup)
        }
        waiting.cancel()
        #expect(try await waiting.value == nil)
        await self.commit(1...1, journal)
        #expect(try await other.value?.map(\.sequence) == [1])
        await journal.close()
    }

    private enum Change: CaseIterable { case use, forget }

    @Test(
        "on a full disk a change of the sinks waits until it is durable", arguments: Change.allCases
    )
    private func fullDisk(change: Change) async throws {
        let journal = try self.open(JournalSink("first"), JournalSink("second"))
        await journal.use([JournalSink("first")])
        let store = try #require(journal.checkpointer).store
        try await store.limit(pages: 1)
        // The window's keys need further pages.
        await journal.commit(AdmittedRequest.impressions(1...1000))
        let isDurable = Mutex(false)
        let changing = Task {
            switch change {
            case .use: await journal.use([JournalSink("first"), JournalSink("third")])
            case .forget: _ = await journal.forget(sink: "second")
            }
            isDurable.withLock { $0 = true }
        }
        while journal.formerSinks == ["second"], change == .forget { await Task.yield() }
        while journal.lag(of: "third").groups == 0, change == .use { await Task.yield() }
        for _ in 1...20 {
            await Task.yield()
            await journal.checkpointer?.finish()
        }
        #expect(!isDurable.withLock { $0 })
        try await store.limit(pages: 1 << 30)
        await changing.value
        let saved = try CheckpointStore.contents(copiedFrom: self.directory)
        #expect(saved.sinks.keys.contains(change == .use ? "third" : "second") == (change == .use))
        await journal.close()
    }

    @Test(
        "a change of the sinks that waits for room ends when it is cancelled, or the journal ends")
    func fullDiskAtTheEnd() async throws {
        let journal = try self.open(JournalSink("first"))
        let store = try #require(journal.checkpointer).store
        try await store.limit(pages: 1)
        await journal.commit(AdmittedRequest.impressions(1...1000))
        let cancelled = Task { await journal.use([JournalSink("first"), JournalSink("second")]) }
        let closed = Task { await journal.use([JournalSink("first"), JournalSink("third")]) }
        cancelled.cancel()
        await cancelled.value
        await journal.close()
        await closed.value
    }
}
