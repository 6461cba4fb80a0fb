// A sink that gets a part of the hits.
internal import Delivery
internal import GRDB
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules

extension ForwarderTests {
    /// A click and an open each; the filter wants the opens.
    private static let opens = HitFilter(only: [.kind: ["open"]])

    @Test("a sink gets what its filter passes, and the cursor passes the rest")
    func filtered() async throws {
        let journal = try await self.journal("recording", commits: 1...2)
        try await self.commit([TestEvents.action(.button1, id: 9)], to: journal)
        journal.finish()
        let sink = RecordingSink()
        try await self.forwarder(journal, sink, filter: Self.opens).run()
        #expect(try sink.batches.flatMap { try $0.records.map(\.kind) } == [.open, .open])
        #expect(sink.sequences == [1, 2], "a batch without a hit is not delivered")
        #expect(journal.cursor(of: "recording") == 3)
        #expect(try self.counts() == [2, 0, 0, 2])
        await journal.close()
    }

    @Test(
        "what a sink refuses of the hits that pass is the dead letter, at its place in the group",
        arguments: [SinkAnswer.rejected([0: "no"]), .unreadable(reason: "no")])
    func rejected(_ answer: SinkAnswer) async throws {
        let journal = try await self.journal("failing", commits: 1...1)
        journal.finish()
        try await self.forwarder(journal, FailingSink([answer]), filter: Self.opens).run()
        let letters = try self.letters()
        #expect(letters.map { $0["position"] } == [1])
        #expect(letters.map { $0["reason"] } == ["no"])
        #expect(journal.cursor(of: "failing") == 1)
        await journal.close()
    }

    @Test("a group that a filter cannot read is a dead letter, and those joined with it are not")
    func unreadable() async throws {
        let journal = try await self.journal("recording", commits: 1...1)
        await self.commit(
            try TestHits.requestFromLaterOn([TestEvents.push(.opened, id: 2)], strange: 0),
            to: journal)
        try await self.commit([TestEvents.push(.opened, id: 3)], to: journal)
        journal.finish()
        let sink = RecordingSink(maxBatch: .standard)
        try await self.forwarder(journal, sink, filter: Self.opens).run()
        #expect(try sink.batches.flatMap { try $0.records.map(\.broadlogID) } == ["h1", "h3"])
        #expect(try self.letters().map { $0["sequence"] } == [2])
        #expect(journal.cursor(of: "recording") == 3)
        await journal.close()
    }
}
