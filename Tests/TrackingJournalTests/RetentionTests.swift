// How long delivered rows are retained, and how they are delivered again after a loss.
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct RetentionTests {
    private let directory: TemporaryDirectory
    private let clock = TestClock()

    init() throws { self.directory = try TemporaryDirectory() }

    private func open(
        _ sinks: [JournalSink] = [JournalSink("a")], retainSeconds: Int = 600,
        _ change: (inout Journal.Configuration) -> Void = { _ in }
    ) throws -> Journal {
        var configuration = Journal.Configuration.test()
        configuration.retainSeconds = retainSeconds
        change(&configuration)
        var machine = Machine.local
        machine.now = { [clock] in clock.now }
        return try Journal(
            directory: self.directory.journal, sinks: sinks, configuration: configuration,
            machine: machine, onFailure: { _ in })
    }

    /// Commits a batch and delivers it; returns the number of stored rows.
    private func deliver(_ id: Int, _ journal: Journal) async throws -> Int {
        await journal.commit(TestEvents.impression(id))
        await self.advance(journal, to: journal.lastSequence)
        return try self.kept(journal)
    }

    /// Moves the cursor, and waits for the checkpoint in a turn of its own.
    private func advance(
        _ journal: Journal, sink: String = "a", to sequence: Int64
    ) async {
        await journal.settle()
        journal.advance(sink: sink, to: sequence)
        await journal.settle()
    }

    private func kept(_ journal: Journal) throws -> Int {
        var (count, last) = (0, Int64(0))
        while let batch = try journal.writer.batch(after: last) {
            (count, last) = (count + 1, batch.sequence)
        }
        return count
    }

    @Test("journal.retain: a row stays for as long as was asked after its delivery")
    func retention() async throws {
        let journal = try self.open()
        #expect(try await self.deliver(1, journal) == 1)
        self.clock.advance(by: .seconds(599))
        #expect(try await self.deliver(2, journal) == 2)
        self.clock.advance(by: .seconds(1))
        #expect(try await self.deliver(3, journal) == 2)
        self.clock.advance(by: .seconds(600))
        #expect(try await self.deliver(4, journal) == 1)
        await journal.close()
    }

    /// Two sinks, of which the backend of the one that is not required may lose what it took.
    private func openTwo(keeping groups: Int) throws -> Journal {
        let bytes = AdmittedRequest.impressions(1...1).journalBytes
        var may = JournalSink("may", maxLagBytes: groups * bytes)
        may.retention = .seconds(600)
        return try self.open([JournalSink("a"), may], retainSeconds: 0)
    }

    @Test("what a sink may lose is kept once it has it; before that its limit alone holds")
    func lagging() async throws {
        let journal = try self.openTwo(keeping: 2)
        for id in 1...5 { #expect(try await self.deliver(id, journal) == min(id, 2)) }
        // The gap is told first, and then it has everything.
        #expect(journal.writer.take(sink: "may", through: 5)?.hits == 3)
        await self.advance(journal, sink: "may", to: 5)
        for id in 6...9 {
            _ = try await self.deliver(id, journal)
            await self.advance(journal, sink: "may", to: journal.lastSequence)
        }
        #expect(try self.kept(journal) == 6)
        self.clock.advance(by: .seconds(600))
        #expect(try await self.deliver(10, journal) == 7)
        await self.advance(journal, sink: "may", to: 10)
        #expect(try self.kept(journal) == 1)
        await journal.close()
    }

    @Test("what a sink had before it goes back is kept for it, beyond its limit too")
    func rewindBeyondTheLimit() async throws {
        let journal = try self.openTwo(keeping: 2)
        for id in 1...5 {
            _ = try await self.deliver(id, journal)
            await self.advance(journal, sink: "may", to: journal.lastSequence)
        }
        journal.rewind(sink: "may")
        self.clock.advance(by: .seconds(7200))
        #expect(try await self.deliver(6, journal) == 6)
        await self.advance(journal, sink: "may", to: 6)
        self.clock.advance(by: .seconds(600))
        #expect(try await self.deliver(7, journal) == 7)
        await self.advance(journal, sink: "may", to: 7)
        #expect(try self.kept(journal) == 1)
        await journal.close()
    }

    @Test("a row that waited long for its sink is kept as long as any other")
    func lateDelivery() async throws {
        let journal = try self.open()
        await journal.commit(TestEvents.impression(1))
        self.clock.advance(by: .seconds(7200))
        await self.advance(journal, to: 1)
        #expect(try self.kept(journal) == 1)
        await journal.close()
    }

    @Test("time does not count while nothing is delivered: an outage lets nothing go")
    func outage() async throws {
        let journal = try self.open()
        #expect(try await self.deliver(1, journal) == 1)
        self.clock.advance(by: .seconds(7200))
        await journal.commit(TestEvents.impression(2))
        #expect(try self.kept(journal) == 2)
        await journal.close()
    }

    @Test("after a restart what was delivered before stays as long as if it had come now")
    func restart() async throws {
        var journal = try self.open()
        #expect(try await self.deliver(1, journal) == 1)
        await journal.close()
        self.clock.advance(by: .seconds(7200))
        journal = try self.open()
        #expect(try await self.deliver(2, journal) == 2)
        self.clock.advance(by: .seconds(600))
        #expect(try await self.deliver(3, journal) == 1)
        await journal.close()
    }

    @Test("what is only retained gives way once it fills half of the journal")
    func room() async throws {
        let bytes = AdmittedRequest.impressions(1...1).journalBytes
        let journal = try self.open { $0.maxBytes = bytes * 10 }
        for id in 1...40 {
            #expect(await journal.commit(TestEvents.impression(id)) == [.accepted])
            await self.advance(journal, to: journal.lastSequence)
            #expect(journal.storedBytes <= bytes * 6)
        }
        #expect(journal.storedBytes >= bytes * 4)
        await journal.close()
    }

    @Test("what is only retained gives way to a group of more than half of the journal")
    func largeGroup() async throws {
        let requests = (0x106...0x10B).map { AdmittedRequest.impressions([$0]) }
        let journal = try self.open { $0.maxBytes = requests[0].journalBytes * 10 }
        for id in 1...5 { #expect(try await self.deliver(0x100 + id, journal) == id) }
        await journal.appendTogether(requests, for: RecordingReceiver())
        #expect(requests.allSatisfy { $0.verdicts == [.accepted] })
        await journal.close()
    }

    @Test("a sink that goes back gets every row that is kept, and they stay until it has them")
    func rewind() async throws {
        var journal = try self.open()
        for id in 1...3 { #expect(try await self.deliver(id, journal) == id) }
        journal.rewind(sink: "a")
        await journal.close()
        self.clock.advance(by: .seconds(7200))
        journal = try self.open()
        #expect(journal.cursor(of: "a") == 0)
        await journal.commit(TestEvents.impression(4))
        #expect(try self.kept(journal) == 4)
        let first = try #require(try journal.writer.batch(after: 0)).sequence
        await self.advance(journal, to: first)
        self.clock.advance(by: .seconds(600))
        await self.advance(journal, to: first + 1)
        #expect(try self.kept(journal) == 3)
        await journal.close()
    }

    @Test("a sink's token is kept with its cursor, and only a newer one takes its place")
    func token() async throws {
        var journal = try self.open()
        for id in 1...2 { await journal.commit(TestEvents.impression(id)) }
        #expect(journal.resumeToken(of: "a") == "")
        journal.advance(sink: "a", to: 2, resumeToken: "two")
        journal.advance(sink: "a", to: 1, resumeToken: "one")
        await journal.settle()
        await journal.close()
        journal = try self.open()
        #expect(journal.resumeToken(of: "a") == "two")
        #expect(journal.resumeToken(of: "b") == "")
        await journal.close()
    }

    @Test("deliveries are noted at a hundredth of the retention, however many there are")
    func manyDeliveries() {
        var times = RetentionTimes(retention: .seconds(100))
        let start = ContinuousClock.now
        for millisecond in 0..<200_000 {
            times.note(Int64(millisecond), at: start + .milliseconds(millisecond))
        }
        // A row may stay 1 % longer, but never less.
        #expect(!times.retains(98_000) && (100_000...199_999).allSatisfy(times.retains))
        #expect(times.spanCount <= 101)
    }
}
