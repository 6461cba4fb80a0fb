// How far a batch has come, without brokers.
internal import CRdKafka
@testable internal import KafkaSink
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing

struct KafkaDeliveryTests {
    /// A group of events.
    private func group(
        _ ids: ClosedRange<Int>, _ sequence: Int64, journal: String = "j", isMasked: Bool = false
    ) throws -> HitBatch {
        let events = ids.map { id in
            var event = TestEvents.full(id: id)
            if isMasked { event.subjectID = "" }
            return event
        }
        return try TestHits.batch(events, sequence: sequence, journal: journal)
    }

    private func batch(journal: String = "j", isMasked: Bool = false) throws -> HitBatch {
        HitBatch(joining: [
            try self.group(1...2, 1, journal: journal, isMasked: isMasked),
            try self.group(3...4, 2, journal: journal),
        ])
    }

    @Test("a batch that comes again is known by its journal, its groups and the ids of its hits")
    func same() throws {
        let rows: [(what: String, batch: HitBatch, isSame: Bool)] = [
            ("as it was", try self.batch(), true),
            ("a subject was forgotten", try self.batch(isMasked: true), true),
            ("another journal", try self.batch(journal: "replay-1"), false),
            (
                "another hit",
                HitBatch(joining: [try self.group(1...2, 1), try self.group(4...5, 2)]), false
            ),
            (
                "another group",
                HitBatch(joining: [try self.group(1...2, 1), try self.group(3...4, 3)]), false
            ),
            (
                "one group more",
                HitBatch(joining: [try self.batch(), try self.group(5...6, 3)]), false
            ),
            ("one group less", try self.group(1...2, 1), false),
            ("joined in another way", try self.group(1...4, 2), false),
        ]
        for row in rows {
            let delivery = KafkaDelivery(try self.batch(), number: 1)
            #expect(try delivery.resume(row.batch) == row.isSame, "\(row.what)")
        }
    }

    @Test("what is sent is not sent again after a subject was forgotten, and the rest is masked")
    func masked() throws {
        let delivery = KafkaDelivery(try self.group(1...3, 1), number: 1)
        delivery.send(0)
        delivery.send(1)
        delivery.take(
            KafkaProducer.Report(
                tag: delivery.tag(of: 0), error: RD_KAFKA_RESP_ERR_NO_ERROR,
                status: RD_KAFKA_MSG_STATUS_PERSISTED, topic: "hits"), isSingle: false)
        #expect(try delivery.resume(try self.group(1...3, 1, isMasked: true)))
        #expect((0..<3).map { delivery.isWaiting($0) } == [false, false, true])
        #expect(delivery.progress == "1 of 3 hits are delivered" && delivery.inFlightCount == 1)
        #expect(try delivery.hits.records.map(\.event.subjectID) == ["", "", ""])
    }
}
