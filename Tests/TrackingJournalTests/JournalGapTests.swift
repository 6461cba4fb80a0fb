// What the journal keeps for a sink that is not required, and how it tells of what it let go.
internal import Foundation
internal import Storage
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules
internal import WireFormat

struct JournalGapTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    /// Bytes of payload of a request with one impression.
    private func rowBytes() async throws -> Int {
        let journal = try Journal.open(self.directory, folder: "measure", sinks: [])
        await journal.commit(TestEvents.impression(1))
        let bytes = journal.storedBytes
        await journal.close()
        return bytes
    }

    private func open(maxLagBytes: Int, mode: Journal.Mode = .disk) throws -> Journal {
        try Journal.open(
            self.directory,
            sinks: [JournalSink("must"), JournalSink("may", maxLagBytes: maxLagBytes)]
        ) { configuration in
            configuration.mode = mode
            // Groups of one request each.
            configuration.maxGroupBytes = 1
        }
    }

    /// Commits requests of one impression each, and delivers them to the required sink.
    private func deliver(_ numbers: ClosedRange<Int>, _ journal: Journal) async {
        for number in numbers { await journal.commit(TestEvents.impression(number)) }
        await journal.settle()
        journal.advance(sink: "must", to: journal.lastSequence)
        await journal.settle()
    }

    private func next(_ journal: Journal, after sequence: Int64) async throws -> JournalBatch? {
        try await journal.batches(for: "may", after: sequence, upTo: .oneGroup)?.first
    }

    /// Those of a new sink that is not required.
    private static var cursors: SinkCursors {
        SinkCursors(
            [:], of: [JournalSink("may", maxLagBytes: 1)], kept: 0, last: 0, retention: .zero,
            now: .now)
    }

    private static func gap(_ sequences: ClosedRange<Int64>) -> LostRecords {
        LostRecords(
            sequences: sequences, eventCount: sequences.count, hitCount: sequences.count,
            cause: .release)
    }

    @Test("no limit that a reload has raised keeps more than half of the journal")
    func halfOfTheJournal() {
        let cursors = SinkCursors(
            [:], of: [JournalSink("may", maxLagBytes: 1 << 40)], kept: 0, last: 0,
            retention: .zero, now: .now)
        let row = StoredRow.test(1)
        #expect(cursors.holds(row, left: 500, maxBytes: 1000))
        #expect(!cursors.holds(row, left: 501, maxBytes: 1000))
    }

    @Test("a sink that is not required has its limit kept for it, and is told what goes beyond it")
    func atTheLimit() async throws {
        let bytes = try await self.rowBytes()
        let journal = try self.open(maxLagBytes: bytes * 3)
        await self.deliver(1...3, journal)
        #expect(journal.storedBytes == bytes * 3)
        await self.deliver(4...4, journal)
        #expect(journal.storedBytes == bytes * 3)
        #expect(try await self.next(journal, after: 0)?.loss == Self.gap(1...1))
        journal.advance(sink: "may", to: 1)
        #expect(try await self.next(journal, after: 1)?.sequence == 2)
        await journal.close()
    }

    @Test("a required sink holds everything back, however far behind it is")
    func required() async throws {
        let journal = try self.open(maxLagBytes: 1)
        for number in 1...5 { await journal.commit(TestEvents.impression(number)) }
        await journal.settle()
        #expect(journal.lag(of: "must").groups == 5)
        #expect(try await self.next(journal, after: 0)?.loss == nil)
        await journal.close()
    }

    @Test("a gap grows until it is told, and outlives the process", arguments: [1, 2])
    func restarts(_ processes: Int) async throws {
        var journal = try self.open(maxLagBytes: 1)
        await self.deliver(1...4, journal)
        for process in 1...processes {
            await journal.close()
            journal = try self.open(maxLagBytes: 1)
            await self.deliver(process * 10...process * 10, journal)
        }
        let last = journal.lastSequence
        #expect(try await self.next(journal, after: 0)?.loss == Self.gap(1...last))
        // Told, but not yet noted as such: it is told again.
        await journal.close()
        journal = try self.open(maxLagBytes: 1)
        await self.deliver(30...30, journal)
        #expect(try await self.next(journal, after: 0)?.loss == Self.gap(1...last + 1))
        journal.advance(sink: "may", to: last + 1)
        await journal.settle()
        await journal.close()
        journal = try self.open(maxLagBytes: 1)
        #expect(journal.cursor(of: "may") == last + 1)
        await journal.close()
    }

    @Test("rows of an earlier process that go are counted too")
    func earlierRows() async throws {
        var journal = try self.open(maxLagBytes: 1 << 20)
        await self.deliver(1...3, journal)
        await journal.close()
        journal = try self.open(maxLagBytes: 1)
        await self.deliver(4...4, journal)
        #expect(try await self.next(journal, after: 0)?.loss == Self.gap(1...4))
        await journal.close()
    }

    @Test("what a forwarder has in its hands is missing only if it never delivers it")
    func inHand() {
        var cursors = Self.cursors
        #expect(cursors.take("may", through: 2) == nil)
        for sequence in Int64(1)...3 { cursors.noteReleased(.test(sequence)) }
        // If it ends now, all three are missing.
        #expect(cursors.unsaved["may"]?.gap == SinkGap(through: 3, events: 3, hits: 3))
        cursors.advance("may", to: SinkCursor(sequence: 2), at: .now)
        #expect(cursors.take("may", through: 4) == SinkGap(through: 3, events: 1, hits: 1))
    }

    @Test("what a forwarder gave up, and what went meanwhile, is missing together")
    func givenUp() {
        var cursors = Self.cursors
        #expect(cursors.take("may", through: 3) == nil)
        for sequence in Int64(1)...4 { cursors.noteReleased(.test(sequence)) }
        #expect(cursors.take("may", through: 1) == SinkGap(through: 4, events: 4, hits: 4))
    }

    @Test("a sink that was configured once, and is again, is told what it has missed")
    func comeBack() async throws {
        var journal = try self.open(maxLagBytes: 1 << 20)
        await self.deliver(1...2, journal)
        journal.advance(sink: "may", to: 2)
        await journal.settle()
        await journal.close()
        journal = try Journal.open(self.directory, sinks: [JournalSink("must")])
        await self.deliver(3...5, journal)
        await journal.close()
        journal = try self.open(maxLagBytes: 1 << 20)
        await self.deliver(6...6, journal)
        #expect(try await self.next(journal, after: 2)?.loss == Self.gap(3...5))
        await journal.close()
    }

    @Test("a sink whose backend has lost hits is told what it has missed all the same")
    func lost() async throws {
        var journal = try self.open(maxLagBytes: 1 << 20)
        await self.deliver(1...2, journal)
        journal.advance(sink: "may", to: 2)
        await journal.settle()
        await journal.close()
        journal = try self.open(maxLagBytes: 1)
        await self.deliver(3...6, journal)
        journal.rewind(sink: "may")
        #expect(journal.missedHits(of: "may") == 4)
        #expect(try await self.next(journal, after: 0)?.loss == Self.gap(3...6))
        journal.advance(sink: "may", to: 6)
        journal.rewind(sink: "may")
        #expect(journal.missedHits(of: "may") == 0)
        await journal.close()
    }

    @Test("what a forwarder gave up because of a loss is missing, if the journal let it go")
    func lostInHand() {
        var cursors = Self.cursors
        cursors.advance("may", to: SinkCursor(sequence: 1), at: .now)
        #expect(cursors.take("may", through: 3) == nil)
        for sequence in Int64(2)...4 { cursors.noteReleased(.test(sequence)) }
        cursors.rewind("may", to: 4)
        #expect(cursors.unsaved["may"]?.gap == SinkGap(through: 4, events: 3, hits: 3))
        #expect(cursors.take("may", through: 5) == SinkGap(through: 4, events: 3, hits: 3))
        cursors.advance("may", to: SinkCursor(sequence: 4), at: .now)
        #expect(cursors.take("may", through: 5) == nil)
    }

    @Test("a new sink begins with the oldest group that is kept, or with the next")
    func beginnings() async throws {
        var journal = try Journal.open(self.directory, sinks: [JournalSink("must")])
        for number in 1...2 { await journal.commit(TestEvents.impression(number)) }
        await journal.settle()
        await journal.close()
        journal = try Journal.open(
            self.directory,
            sinks: [JournalSink("must"), JournalSink("old"), JournalSink("new", start: .newest)])
        #expect(journal.lag(of: "old").groups == 2)
        #expect(journal.lag(of: "new").groups == 0)
        // It begins there even if the process ends before its first checkpoint.
        let saved = try CheckpointStore.contents(copiedFrom: self.directory)
        #expect(saved.sinks["new"]?.cursor.sequence == 2)
        await journal.close()
        journal = try Journal.open(
            self.directory, sinks: [JournalSink("must"), JournalSink("new", start: .oldest)])
        #expect(journal.lag(of: "new").groups == 0, "it is not new any more")
        await journal.close()
    }

    @Test("what went before a sink was new is none of its gap")
    func gapOfNewSink() async throws {
        var journal = try Journal.open(self.directory, sinks: [JournalSink("must")]) {
            $0.maxGroupBytes = 1
        }
        await self.deliver(1...3, journal)
        await journal.commit(TestEvents.impression(4))
        await journal.settle()
        await journal.close()
        journal = try self.open(maxLagBytes: 1)
        await self.deliver(5...6, journal)
        let cursor = journal.cursor(of: "may")
        #expect(cursor == 3)
        #expect(try await self.next(journal, after: cursor)?.loss == Self.gap(4...6))
        await journal.close()
    }

    @Test("what goes while a sink reads it is told at once, and not with the next group")
    func goneMeanwhile() async throws {
        var journal = try self.open(maxLagBytes: 1)
        for number in 1...3 { await journal.commit(TestEvents.impression(number)) }
        await journal.settle()
        await journal.close()
        // None of them is in memory now.
        journal = try self.open(maxLagBytes: 1)
        let gate = Gate()
        journal.queue.async { gate.wait() }
        let writer = journal.writer
        journal.queue.async {
            writer.advance(sink: "must", to: SinkCursor(sequence: 3, resumeToken: ""))
            _ = writer.releaseRows()
        }
        let next = Task { [journal] in try await self.next(journal, after: 0)?.loss }
        // Its read waits behind what lets the groups go.
        for _ in 1...1000 { await Task.yield() }
        gate.open()
        // Only to end a read that waits for a fourth group.
        await journal.settle()
        journal.finish()
        #expect(try await next.value == Self.gap(1...3))
        await journal.close()
    }

    @Test("without a disk, acks wait for required sinks alone, and memory is bounded for others")
    func withoutDisk() async throws {
        let journal = try self.open(maxLagBytes: 1, mode: .off)
        for number in 1...3 {
            async let settled = journal.commit(TestEvents.impression(number))
            while journal.lastSequence < number { await Task.yield() }
            journal.advance(sink: "must", to: Int64(number))
            #expect(await settled == [.accepted])
        }
        #expect(journal.storedBytes == 0)
        #expect(try await self.next(journal, after: 0)?.loss == Self.gap(1...3))
        await journal.close()
    }
}

extension StoredRow {
    /// A row of one event with one hit.
    fileprivate static func test(_ sequence: Int64) -> StoredRow {
        StoredRow(
            sequence: sequence, createTime: 0, bytes: 100, eventCount: 1, hitCount: 1,
            eventTotal: UInt32(sequence), place: nil)
    }
}
