// What a sink is told of groups that were released before it had them.
internal import Delivery
internal import GRDB
internal import InMemoryLogging
internal import Logging
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing
internal import TrackingJournal

extension ForwarderTests {
    @Test("a sink that was removed and comes back is told what it missed, and not that it was slow")
    func removed() async throws {
        let sinks = [JournalSink("must"), JournalSink("recording")]
        let journal = try Journal(
            directory: self.directory.file("journal"), sinks: sinks, onFailure: { _ in })
        for id in 1...2 { try await self.commit([TestEvents.push(.opened, id: id)], to: journal) }
        await journal.use([sinks[0]])
        journal.advance(sink: "must", to: journal.lastSequence)
        // The next commit finds that the first two may go.
        try await self.commit([TestEvents.push(.opened, id: 3)], to: journal)
        await journal.use(sinks)
        journal.finish()
        let (sink, log) = (RecordingSink(), InMemoryLogHandler())
        try await self.forwarder(journal, sink, log: log).run()
        #expect(sink.sequences == [3])
        let words = "the journal released these groups before the sink had them: it never gets them"
        #expect(log.entries.filter { $0.level == .critical }.map(\.message.description) == [words])
        #expect(
            try self.letters().map { $0["reason"] }
                == ["missed: sequences 1 to 2 of the journal, 2 events, 4 hits"])
        await journal.close()
    }
}
