// The public seam: what a sink of one's own gets, and what becomes of its answers.
internal import SightlineProtos
@testable internal import SightlineSinks
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TrackingRules

struct OwnSinkTests {
    /// Keeps batches, and answers what a test says.
    private final class Kept: HitSink {
        let name = "kept"
        let maxHits = 7
        private let result: SinkResult
        private let kept = Mutex<[SinkBatch]>([])
        private let closes = Mutex(0)

        init(_ result: SinkResult = .delivered) { self.result = result }

        var batches: [SinkBatch] { self.kept.withLock { $0 } }
        var closeCount: Int { self.closes.withLock { $0 } }

        func deliver(_ batch: SinkBatch) async -> SinkResult {
            self.kept.withLock { $0.append(batch) }
            return self.result
        }

        func close() async { self.closes.withLock { $0 += 1 } }
    }

    /// How a server fails.
    private struct Failure: Error {}

    @Test("a hit has what its record has, and its place in the journal")
    func fields() async throws {
        let sink = Kept()
        let adapted = AdaptedSink(sink: sink)
        #expect(adapted.name == "kept" && adapted.maxBatch.hits == 7)
        let groups = try [11, 12].map { sequence in
            try TestHits.batch(
                [TestEvents.opened(id: Int(sequence)), TestEvents.full(id: 1)], sequence: sequence,
                journal: "j", tenant: "shop")
        }
        let joined = HitBatch(joining: groups)
        #expect(await adapted.deliver(joined) == .delivered)
        let batch = try #require(sink.batches.first)
        #expect(batch.journalID == "j")
        #expect(batch.hits.map(\.sequence) == [11, 11, 11, 12, 12, 12])
        #expect(batch.hits.map(\.index) == [0, 1, 2, 0, 1, 2])
        #expect(batch.hits.map(\.kind) == ["click", "open", "impression"] * 2)
        for (hit, record) in zip(batch.hits, try joined.records) {
            #expect(try Sightline_V1_TrackingRecord(serializedBytes: hit.record) == record)
            #expect(hit.id == [UInt8](record.hitID) && hit.tenant == "shop")
            #expect(hit.deliveryID == record.deliveryID && hit.broadlogID == record.broadlogID)
            #expect(hit.campaignAction == record.campaignAction)
            #expect(hit.receiveTime == TestHits.receiveTime)
            #expect(hit.appID == record.event.appID && hit.subjectID == record.event.subjectID)
        }
        // The first event says neither its app nor its time, and its payload is Android's.
        #expect(batch.hits.map(\.appID) == ["", "", "com.example.app"] * 2)
        #expect(batch.hits.map(\.platform) == ["android", "android", "ios"] * 2)
        #expect(batch.hits.map(\.subjectID)[..<3] == ["subject-11", "subject-11", "subject-1"])
        let occurTime: Int64 = 1_799_999_999_123_456
        #expect(batch.hits.map(\.occurTime)[..<3] == [nil, nil, occurTime])
    }

    @Test("a sink is closed once its server has ended, however that was", arguments: [false, true])
    func closing(fails: Bool) async throws {
        let sinks = [Kept(), Kept()]
        var hasFailed = false
        do {
            try await SightlineServer.run(sinks: sinks) {
                #expect(sinks.map(\.closeCount) == [0, 0])
                if fails { throw Failure() }
            }
        } catch is Failure {
            hasFailed = true
        }
        #expect(hasFailed == fails)
        #expect(sinks.map(\.closeCount) == [1, 1])
    }

    @Test(
        "an answer means the hits that the sink saw",
        arguments: [
            (SinkResult.delivered, SinkAnswer.delivered),
            (.rejected([1: "old"]), .rejected([1: "old"])),
            (.unavailable(reason: "gone"), .unavailable(reason: "gone")),
            (.lost(reason: "a disk"), .dataLoss(reason: "a disk")),
            (.rejected([5: "none"]), .unavailable(reason: "it rejected the hit 5 of 3")),
            (.rejected([-1: "none"]), .unavailable(reason: "it rejected the hit -1 of 3")),
        ])
    func answers(_ result: SinkResult, _ answer: SinkAnswer) async throws {
        let hits = try TestHits.batch((1...3).map { TestEvents.full(id: $0) })
        #expect(await AdaptedSink(sink: Kept(result)).deliver(hits) == answer)
    }

    @Test("nothing is asked of a sink that it could not answer for")
    func nothing() async throws {
        let sink = Kept()
        let adapted = AdaptedSink(sink: sink)
        let empty = HitBatch(journal: "j", sequence: 1, payload: [])
        #expect(await adapted.deliver(empty) == .delivered)
        for damaged in [
            HitBatch(journal: "j", sequence: 1, payload: [1, 2, 3]),
            HitBatch(try TestHits.requestWithBrokenIndex([TestEvents.full(id: 1)], broken: 0)),
        ] {
            guard case .unreadable = await adapted.deliver(damaged) else {
                Issue.record("damage is not told of")
                return
            }
        }
        #expect(sink.batches.isEmpty)
    }
}

/// A list several times.
private func * (list: [String], times: Int) -> [String] {
    (0..<times).flatMap { _ in list }
}
