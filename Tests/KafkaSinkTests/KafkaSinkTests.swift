// What the kafka sink does beyond every sink's contract, on librdkafka's mock cluster.
internal import CRdKafka
internal import Foundation
@testable internal import KafkaSink
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

@Suite(
    .enabled(
        if: TestCluster.program != nil,
        "SIGHTLINE_TEST_KAFKA is not the program of kafka_mock.c: `make test-swift` compiles it"))
struct KafkaSinkTests {
    private let cluster: TestCluster
    private let directory: TemporaryDirectory

    init() throws {
        self.cluster = try TestCluster()
        self.directory = try TemporaryDirectory()
        try self.cluster.makeTopic("hits")
    }

    private var configuration: KafkaConfiguration { .test(self.cluster) }
    private var topic: TestTopic { TestTopic(brokers: self.cluster.brokers, name: "hits") }

    private func batch(_ ids: ClosedRange<Int>) throws -> HitBatch {
        try TestHits.batch(ids.map { TestEvents.full(id: $0) }, sequence: Int64(ids.lowerBound))
    }

    /// An event without a notification.
    private func inApp(id: Int) -> Sightline_V1_TrackingEvent {
        .with { event in
            event.eventID = "event-\(id)"
            event.appID = "com.example.app"
            event.inApp.messageID = "welcome"
            event.inApp.impression = .init()
        }
    }

    private func events() throws -> [String] {
        try self.topic.messages().map {
            try Sightline_V1_TrackingRecord(serializedBytes: $0.value).event.eventID
        }
    }

    private func reason(of answer: SinkAnswer) throws -> String {
        guard case .unavailable(let reason) = answer else {
            Issue.record("\(answer)")
            return ""
        }
        return reason
    }

    @Test("a message has the notification as its key, CloudEvents' attributes and the record")
    func message() async throws {
        let sink = try KafkaSink(self.configuration)
        let batch = try TestHits.batch([TestEvents.full(id: 500)], tracestate: "a=b")
        #expect(await sink.deliver(batch) == .delivered)
        let message = try #require(try self.topic.messages().first)
        let record = try #require(try batch.records.first)
        #expect(try Sightline_V1_TrackingRecord(serializedBytes: message.value) == record)
        #expect(message.key == record.broadlogID && message.key == "h1f4")
        let headers = Dictionary(uniqueKeysWithValues: message.headers.map { ($0.name, $0.value) })
        #expect(
            headers == [
                "traceparent": record.traceContext.traceparent, "tracestate": "a=b",
                "content-type": "application/protobuf", "ce-specversion": "1.0",
                "ce-id": record.hitID.hex, "ce-source": "/sightline/default",
                "ce-type": "sightline.v1.hit.impression", "ce-subject": "56c4",
                "ce-time": "2027-01-15T08:00:00.123456Z",
            ])
    }

    @Test("the key is the hit id where that is asked for, and where there is no notification")
    func keys() async throws {
        var configuration = self.configuration
        configuration.key = .hit
        let sinks = [try KafkaSink(configuration), try KafkaSink(self.configuration)]
        let events = [TestEvents.full(id: 1), self.inApp(id: 2)]
        for (sink, event) in zip(sinks, events) {
            #expect(await sink.deliver(try TestHits.batch([event])) == .delivered)
        }
        let messages = try self.topic.messages()
        #expect(messages.count == 2)
        #expect(messages.allSatisfy { $0.key == $0.hitID && $0.key.utf8.count == 32 })
    }

    @Test("hits of one notification are in one partition, in their order")
    func order() async throws {
        try self.cluster.tell("topic wide 8")
        var configuration = self.configuration
        configuration.topic = "wide"
        let sink = try KafkaSink(configuration)
        for round in 0..<3 {
            let events = (0..<200).map { TestEvents.push(.opened, id: $0 % 40 + round * 40) }
            #expect(await sink.deliver(try TestHits.batch(events)) == .delivered)
        }
        let messages = try TestTopic(
            brokers: self.cluster.brokers, name: "wide", partitions: 8
        ).messages()
        let byKey = Dictionary(grouping: messages, by: \.key)
        #expect(byKey.count == 120 && Set(messages.map(\.partition)).count == 8)
        for (_, hits) in byKey {
            #expect(Set(hits.map(\.partition)).count == 1)
            let kinds = try hits.map {
                try Sightline_V1_TrackingRecord(serializedBytes: $0.value).kind
            }
            #expect(kinds == (0..<5).flatMap { _ in [.click, .open] })
        }
    }

    @Test(
        "tenant and kind may have a topic of their own, if need be of another producer, but once",
        arguments: [(4, 1), (3, 2), (1, 6)])
    func topics(maxTopics: Int, producers: Int) async throws {
        var configuration = self.configuration
        configuration.topic = "{tenant}.{kind}"
        configuration.maxTopics = maxTopics
        let sink = try KafkaSink(configuration)
        for tenant in ["a", "b", "a"] {
            let request = try TestHits.request([TestEvents.push(.opened, id: 1)], tenant: tenant)
            let batch = HitBatch(request)
            #expect(await sink.deliver(batch) == .delivered)
        }
        #expect(sink.producerCount == producers)
        for (name, count) in [("a.click", 2), ("a.open", 2), ("b.click", 1), ("b.open", 1)] {
            let topic = TestTopic(brokers: self.cluster.brokers, name: name, partitions: 4)
            #expect(try topic.messages().count == count)
        }
    }

    @Test("a hit that exceeds the limit is refused for good, and no other")
    func tooLarge() async throws {
        var configuration = self.configuration
        configuration.maxMessageBytes = 1200
        var large = self.inApp(id: 2)
        large.inApp.appData["a"] = String(repeating: "b", count: 1000)
        let batch = try TestHits.batch([TestEvents.full(id: 1), large, TestEvents.full(id: 3)])
        let answer = await (try KafkaSink(configuration)).deliver(batch)
        #expect(
            answer == .rejected([1: "it exceeds kafka.max_message_bytes, which is 1200"]))
        #expect(try self.events() == ["event-1", "event-3"])
    }
}
