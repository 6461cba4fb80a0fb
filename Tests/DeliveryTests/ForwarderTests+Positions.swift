// A sink that proves by the journal what its backend says.
internal import Delivery
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules

/// Asks for some groups with its first batch.
private final class AskingSink: PositionedSink {
    let name = "recording"
    let maxBatch = BatchLimit.oneGroup
    private let journal = Mutex<JournalGroups?>(nil)
    private let told = Mutex<[Int64: HitBatch?]>([:])

    /// What it was told of each group.
    var groups: [Int64: HitBatch?] { self.told.withLock { $0 } }
    /// The newest group.
    var newest: Int64? { self.journal.withLock { $0 }?.newest() }

    func use(_ groups: JournalGroups) { self.journal.withLock { $0 = groups } }

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
        guard hits.sequence == 1, let journal = self.journal.withLock({ $0 }) else {
            return .delivered
        }
        for sequence in Int64(0)...4 {
            let group = await journal.group(sequence)
            self.told.withLock { $0[sequence] = .some(group) }
        }
        return .delivered
    }
}

extension ForwarderTests {
    @Test("a sink may ask for the journal's groups, and gets what its filter passes")
    func positions() async throws {
        let journal = try await self.journal("recording", commits: 1...2)
        await self.commit(
            try TestHits.requestFromLaterOn([TestEvents.push(.opened, id: 3)], strange: 0),
            to: journal)
        journal.finish()
        let sink = AskingSink()
        let filter = HitFilter(only: [.kind: ["open"]])
        try await self.forwarder(journal, SerializedSink(sink), filter: filter).run()
        #expect(sink.newest == 3)
        let hits = try sink.groups.mapValues { try $0?.records.map(\.broadlogID) }
        #expect(hits == [0: nil, 1: ["h1"], 2: ["h2"], 3: nil, 4: nil])
        #expect(sink.groups[2]??.journal == journal.identity)
        await journal.close()
    }
}
