// The kafka sink, while its brokers fail as librdkafka's mock cluster lets them.
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
struct KafkaFaultTests {
    private let cluster: TestCluster

    init() throws {
        self.cluster = try TestCluster()
        try self.cluster.makeTopic("hits")
    }

    /// For faults that are waited out: what is told to be unavailable comes soon.
    private var hasty: KafkaConfiguration {
        var configuration = KafkaConfiguration.test(self.cluster)
        (configuration.requestTimeout, configuration.deliveryTimeout) = (.seconds(1), .seconds(2))
        return configuration
    }

    private func batch(_ ids: ClosedRange<Int>, masked: Int? = nil) throws -> HitBatch {
        let events = ids.map { id in
            var event = TestEvents.full(id: id)
            if id == masked { event.subjectID = "" }
            return event
        }
        return try TestHits.batch(events, sequence: Int64(ids.lowerBound))
    }

    private func events() throws -> [String] {
        try TestTopic(brokers: self.cluster.brokers, name: "hits").messages().map {
            try Sightline_V1_TrackingRecord(serializedBytes: $0.value).event.eventID
        }
    }

    private func expectEvents(_ ids: ClosedRange<Int>) throws {
        let events = try self.events()
        #expect(events == Self.names(ids), "\(events)")
    }

    private static func names(_ ids: ClosedRange<Int>) -> [String] { ids.map { "event-\($0)" } }

    /// Delivers until the sink is no longer unavailable.
    private func deliver(_ batch: HitBatch, to sink: KafkaSink) async throws {
        for _ in 0..<60 {
            let answer = await sink.deliver(batch)
            if case .unavailable = answer { continue }
            #expect(answer == .delivered)
            return
        }
        Issue.record("still unavailable after 60 tries")
    }

    @Test(
        "what a broker refuses for now is sent again by the library, and comes once",
        arguments: [
            RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
            RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR__TRANSPORT,
        ])
    func retried(error: rd_kafka_resp_err_t) async throws {
        let sink = try KafkaSink(.test(self.cluster))
        try self.cluster.tell("errors 0 3 \(error.rawValue)")
        #expect(await sink.deliver(try self.batch(1...300)) == .delivered)
        #expect(await sink.deliver(try self.batch(301...400)) == .delivered)
        try self.expectEvents(1...400)
    }

    @Test(
        "what is the operator's to mend is told with its remedy, and nothing is given up",
        arguments: [
            (RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "allow the user"),
            (RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS, "min.insync.replicas"),
            (RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION, "correct kafka.topic"),
        ])
    func operatorsMatter(error: rd_kafka_resp_err_t, remedy: String) async throws {
        let sink = try KafkaSink(.test(self.cluster))
        try self.cluster.tell("errors 0 1 \(error.rawValue)")
        let answer = await sink.deliver(try self.batch(1...20))
        guard case .unavailable(let reason) = answer else { Issue.record("\(answer)"); return }
        #expect(reason.contains("topic hits: Broker: ") && reason.contains(remedy), "\(reason)")
        try await self.deliver(try self.batch(1...20), to: sink)
        #expect(try self.events().sorted() == (1...20).map { "event-\($0)" }.sorted())
    }

    @Test(
        "a batch that a broker finds too large is halved until it fits",
        arguments: [
            RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
        ])
    func halved(error: rd_kafka_resp_err_t) async throws {
        let sink = try KafkaSink(.test(self.cluster))
        try self.cluster.tell("errors 0 2 \(error.rawValue)")
        #expect(await sink.deliver(try self.batch(1...100)) == .delivered)
        #expect(Set(try self.events()).count == 100)
        #expect(try self.events().count == 100)
    }

    @Test("a hit that is too large alone is a dead letter, and later hits are sent together again")
    func tooLargeAlone() async throws {
        let sink = try KafkaSink(.test(self.cluster))
        try self.cluster.tell("errors 0 1 \(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE.rawValue)")
        #expect(await sink.deliver(try self.batch(1...1)) == .delivered)
        try self.cluster.tell("errors 0 1 \(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE.rawValue)")
        let answer = await sink.deliver(try self.batch(2...2))
        guard case .rejected(let reasons) = answer else { Issue.record("\(answer)"); return }
        #expect(reasons[0]?.hasPrefix("topic hits: Broker: Message size too large") == true)
        // Sent alone, the first of these would be refused.
        try self.cluster.tell("errors 0 1 \(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE.rawValue)")
        #expect(await sink.deliver(try self.batch(3...20)) == .delivered)
        #expect(Set(try self.events()).count == 19)
    }

    @Test("after a fatal error a new producer sends what was not reported, and only that")
    func fatality() async throws {
        let sink = try KafkaSink(.test(self.cluster))
        #expect(await sink.deliver(try self.batch(1...10)) == .delivered)
        sink.fail(RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "a test")
        #expect(await sink.deliver(try self.batch(11...20)) == .delivered)
        try self.expectEvents(1...20)
    }

    @Test(
        "a fatal error that a broker causes leaves no hit out",
        arguments: [
            RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
            RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID, RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH,
        ])
    func brokersFatality(error: rd_kafka_resp_err_t) async throws {
        let sink = try KafkaSink(.test(self.cluster))
        #expect(await sink.deliver(try self.batch(1...10)) == .delivered)
        try self.cluster.tell("errors 0 1 \(error.rawValue)")
        #expect(await sink.deliver(try self.batch(11...50)) == .delivered)
        // What is sent again may stand behind what was taken.
        #expect(try self.events().sorted() == Self.names(1...50).sorted())
    }

    @Test("a broker that hangs is told of within the time of its keys, and its hits come")
    func hanging() async throws {
        let sink = try KafkaSink(self.hasty)
        try await self.deliver(try self.batch(1...10), to: sink)
        self.cluster.suspend()
        let start = ContinuousClock.now
        let answer = await sink.deliver(try self.batch(11...30))
        let time = start.duration(to: .now)
        self.cluster.resume()
        guard case .unavailable(let reason) = answer else { Issue.record("\(answer)"); return }
        #expect(reason.contains("0 of 20 hits are delivered"), "\(reason)")
        #expect(time < .seconds(30))
        try await self.deliver(try self.batch(11...30), to: sink)
        // The mock cluster takes what a broker drops by its number: the process tests count it.
        var seen: Set<String> = []
        #expect(try self.events().filter { seen.insert($0).inserted } == Self.names(1...30))
    }

    @Test("a broker that is down is waited for, told of with the reason, and nothing comes twice")
    func down() async throws {
        let sink = try KafkaSink(self.hasty)
        try await self.deliver(try self.batch(1...10), to: sink)
        try self.cluster.tell("down 1")
        let answer = await sink.deliver(try self.batch(11...30))
        guard case .unavailable(let reason) = answer else { Issue.record("\(answer)"); return }
        #expect(reason.contains("onnect") && reason.contains("0 of 20"), "\(reason)")
        try self.cluster.tell("up 1")
        try await self.deliver(try self.batch(11...30), to: sink)
        try self.expectEvents(1...30)
    }

    @Test("a batch comes once if a subject in it is forgotten between two tries")
    func forgotten() async throws {
        let sink = try KafkaSink(self.hasty)
        try await self.deliver(try self.batch(1...10), to: sink)
        try self.cluster.tell("down 1")
        let answer = await sink.deliver(try self.batch(11...30))
        guard case .unavailable = answer else { Issue.record("\(answer)"); return }
        try self.cluster.tell("up 1")
        try await self.deliver(try self.batch(11...30, masked: 20), to: sink)
        try self.expectEvents(1...30)
    }

    @Test("a producer without a report is replaced, though brokers are connected")
    func renewed() async throws {
        var configuration = self.hasty
        (configuration.renewInterval, configuration.statisticsInterval) = (.zero, .seconds(1))
        let sink = try KafkaSink(configuration)
        try await self.deliver(try self.batch(1...10), to: sink)
        while sink.brokers?.connectedBrokers != 1 { await Task.yield() }
        let error = RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS
        try self.cluster.tell("errors 0 100000 \(error.rawValue)")
        let first = sink.producerCount
        let answer = await sink.deliver(try self.batch(11...30))
        guard case .unavailable(let reason) = answer else { Issue.record("\(answer)"); return }
        #expect(reason.hasPrefix("no broker has confirmed a hit for "), "\(reason)")
        try self.cluster.tell("clear 0")
        try await self.deliver(try self.batch(11...30), to: sink)
        #expect(sink.producerCount > first)
        try self.expectEvents(1...30)
    }

    @Test("a full queue slows the sink down, and loses nothing")
    func fullQueue() async throws {
        var configuration = KafkaConfiguration.test(self.cluster)
        configuration.maxQueuedHits = 10
        let sink = try KafkaSink(configuration)
        #expect(await sink.deliver(try self.batch(1...500)) == .delivered)
        try self.expectEvents(1...500)
    }

    @Test("a delivery that is cancelled ends at once, whatever the brokers do")
    func cancelled() async throws {
        let sink = try KafkaSink(.test(self.cluster))
        self.cluster.suspend()
        let batch = try self.batch(1...10)
        let task = Task { await sink.deliver(batch) }
        let start = ContinuousClock.now
        task.cancel()
        #expect(await task.value == .unavailable(reason: "the server stops"))
        #expect(start.duration(to: .now) < .seconds(20))
        self.cluster.resume()
    }

    @Test("the library's statistics are there soon after the first batch")
    func statistics() async throws {
        var configuration = KafkaConfiguration.test(self.cluster)
        configuration.statisticsInterval = .seconds(1)
        let sink = try KafkaSink(configuration)
        // The time of answers is that of the last interval.
        for id in 1...1_000_000 where sink.brokers?.roundTripSeconds ?? 0 == 0 {
            #expect(await sink.deliver(try self.batch(id...id)) == .delivered)
        }
        let brokers = try #require(sink.brokers)
        #expect(brokers.connectedBrokers == 1 && brokers.roundTripSeconds > 0)
        #expect(brokers.retries == 0 && brokers.timeouts == 0)
    }
}
