// What is kept of a batch from one attempt to the next.
@testable internal import CampaignSink
@testable internal import Delivery
@testable internal import SinkKit
internal import SinkTestSupport
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TrackingRules

@Suite(.timeLimit(.minutes(10)))
struct PostbackBatchTests {
    /// A receiver that has no answer for one subject until it is repaired.
    private final class Broken: Sendable {
        let isDown = Mutex(true)

        func receiver() -> CampaignReceiver {
            CampaignReceiver { query in
                let isHeld = query.contains("subject-3") && self.isDown.withLock { $0 }
                return isHeld ? .init(status: 503) : .counted
            }
        }

        func repair() { self.isDown.withLock { $0 = false } }
    }

    private func batch(journal: String = "j", sequence: Int64 = 1) throws -> HitBatch {
        let batch = try TestHits.batch((1...3).map { TestEvents.full(id: $0) })
        return HitBatch(journal: journal, sequence: sequence, payload: batch.payload)
    }

    private func expectOneLeft(_ answer: SinkAnswer) {
        guard case .unavailable(let reason) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(reason.contains("1 of 3 requests are left"))
    }

    @Test("a subject that is forgotten between two attempts makes nothing be sent again")
    func forgotten() async throws {
        let broken = Broken()
        let receiver = broken.receiver()
        let sink = CampaignSink(try await receiver.configuration())
        let batch = try self.batch()
        self.expectOneLeft(await sink.deliver(batch))
        let forgotten = ForgottenSubjects(key: [7])
        let subject = Subject(tenant: "default", ids: ["subject-1"])
        forgotten.insert(forgotten.hashes(of: subject))
        let masked = try batch.masked(by: forgotten)
        #expect(masked.payload != batch.payload)
        broken.repair()
        #expect(await sink.deliver(masked) == .delivered)
        #expect(receiver.queries.count == 4)
        #expect(Set(receiver.counted).count == 3 && receiver.counted.count == 3)
    }

    @Test("replays that were given up do not make the forwarder's batch be sent again")
    func replays() async throws {
        let broken = Broken()
        let receiver = broken.receiver()
        let sink = CampaignSink(try await receiver.configuration())
        let batch = try self.batch()
        self.expectOneLeft(await sink.deliver(batch))
        for number in 1...2 {
            let replay = try self.batch(journal: HitBatch.replayJournal("\(number)"))
            self.expectOneLeft(await sink.deliver(replay))
        }
        let before = receiver.queries.count
        broken.repair()
        #expect(await sink.deliver(batch) == .delivered)
        #expect(receiver.queries.count == before + 1)
    }
}
