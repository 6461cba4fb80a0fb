// The span of a try to deliver a batch: whose trace it continues, and which requests it is linked
// to.
@testable internal import Delivery
internal import Foundation
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
@testable internal import Telemetry
internal import TestSupport
internal import Testing
internal import Tracing
internal import TrackingJournal
internal import TrackingRules
internal import W3CTrace

struct SinkSpanTests {
    private let queue = SpanQueue(capacity: 10, batchSize: 10, counts: SpanCounts())

    private func tracer(_ sampler: String = "parentbased_always_on") -> SpanTracer {
        SpanTracer(
            sampler: Sampler(name: sampler, ratio: 1), limits: SpanLimits(), queue: self.queue)
    }

    private static func trace(
        _ trace: UInt64, _ span: UInt64, isSampled: Bool = true
    ) -> TraceContext {
        TraceContext(traceID: .init(high: 1, low: trace), spanID: span, isSampled: isSampled)
    }

    /// A batch of a request per trace.
    private func batch(_ traces: [TraceContext]) throws -> HitBatch {
        var payload: [UInt8] = []
        for (index, trace) in traces.enumerated() {
            let request = try TestHits.request([TestEvents.push(.received, id: index)])
            payload += HitEncoding.header(
                entryCount: request.acceptedEvents.count, entriesBytes: request.entries.count,
                receiveTime: TestHits.receiveTime, tenant: "default", trace: trace)
            payload += request.entries
        }
        return HitBatch(journal: "j", sequence: 7, payload: payload)
    }

    /// Delivers a batch, and gives the span that was recorded.
    private func deliver(
        _ traces: [TraceContext], _ answer: SinkAnswer = .delivered, maxLinks: Int = 128,
        sampler: String = "parentbased_always_on"
    ) async throws -> SpanRecord? {
        let batch = try self.batch(traces)
        try await withTracer(self.tracer(sampler)) {
            let span = try #require(SinkSpan(sink: "test", maxLinks: maxLinks))
            let recorded = await span.record(batch) { answer }
            #expect(recorded == answer)
        }
        return self.queue.takeBatch().first
    }

    @Test("without a tracer there is no span")
    func nobody() { #expect(SinkSpan(sink: "test", maxLinks: 1) == nil) }

    @Test("a batch of one request continues its trace")
    func one() async throws {
        let trace = Self.trace(1, 2)
        let record = try #require(try await self.deliver([trace]))
        #expect(record.parent == trace && record.context.traceID == trace.traceID)
        #expect(record.links.map(\.context) == [trace])
        #expect(record.name == "send test" && record.kind == .client)
        let attributes = Dictionary(
            uniqueKeysWithValues: record.attributes.list.map { ($0.name, $0.value) })
        #expect(
            attributes == [
                "messaging.system": "test", "messaging.operation.name": "send",
                "messaging.operation.type": "send", "messaging.destination.name": "test",
                "messaging.batch.message_count": 1, "sightline.delivery.requests": 1,
                "sightline.delivery.sequence": 7, "sightline.delivery.groups": 1,
                "sightline.delivery.sink": "test", "sightline.delivery.events": 1,
            ])
    }

    @Test(
        "a delivery to a database is an INSERT, and a batch of them has its size",
        arguments: [(1, "INSERT"), (3, "BATCH INSERT")])
    func database(_ count: Int, _ operation: String) async throws {
        let batch = try self.batch((1...count).map { Self.trace(1, UInt64($0)) })
        try await withTracer(self.tracer()) {
            let span = try #require(SinkSpan(sink: "test", database: "sqlite", maxLinks: 1))
            _ = await span.record(batch) { .delivered }
        }
        let record = try #require(self.queue.takeBatch().first)
        #expect(record.name == "\(operation) hits")
        let attributes = Dictionary(
            uniqueKeysWithValues: record.attributes.list.map { ($0.name, $0.value) })
        #expect(attributes["db.system.name"] == "sqlite")
        #expect(attributes["db.operation.name"] == .string(operation))
        #expect(attributes["db.collection.name"] == "hits")
        #expect(attributes["db.operation.batch.size"] == (count > 1 ? .int64(Int64(count)) : nil))
        #expect(!attributes.keys.contains { $0.hasPrefix("messaging.") })
    }

    @Test("a batch of requests of one trace continues it, and is linked to each")
    func oneTrace() async throws {
        let traces = (1...3).map { Self.trace(1, $0) }
        let record = try #require(try await self.deliver(traces))
        #expect(record.parent == traces[0])
        #expect(record.links.map(\.context) == traces)
    }

    @Test("a batch of requests of several traces begins one, and is linked to each")
    func severalTraces() async throws {
        let traces = [Self.trace(1, 1), Self.trace(2, 2), Self.trace(1, 3)]
        let record = try #require(try await self.deliver(traces))
        #expect(record.parent == nil && ![1, 2].contains(record.context.traceID.low))
        #expect(record.links.map(\.context) == traces)
    }

    @Test("a delivery of several groups is one span: their events, and links to all requests")
    func severalGroups() async throws {
        let traces = (1...3).map { Self.trace($0, $0) }
        let groups = try traces.enumerated().map { index, trace in
            JournalBatch(
                sequence: Int64(index + 5), eventCount: 2, hitCount: 1,
                payload: try self.batch([trace]).payload)
        }
        try await withTracer(self.tracer()) {
            let span = try #require(SinkSpan(sink: "test", maxLinks: 2))
            _ = await span.record(HitBatch(journal: "j", joining: groups)) { .delivered }
        }
        let record = try #require(self.queue.takeBatch().first)
        #expect(record.links.map(\.context) == Array(traces.prefix(2)))
        let attributes = Dictionary(
            uniqueKeysWithValues: record.attributes.list.map { ($0.name, $0.value) })
        #expect(attributes["messaging.batch.message_count"] == 6)
        #expect(attributes["sightline.delivery.requests"] == 3)
        #expect(attributes["sightline.delivery.groups"] == 3)
        #expect(attributes["sightline.delivery.sequence"] == 7)
    }

    @Test("requests that nobody has recorded are not linked to")
    func unsampledAmongOthers() async throws {
        let traces = [Self.trace(1, 1, isSampled: false), Self.trace(2, 2)]
        let record = try #require(try await self.deliver(traces))
        #expect(record.links.map(\.context) == [traces[1]])
    }

    @Test("a batch of an unsampled trace is not recorded")
    func unsampled() async throws {
        #expect(try await self.deliver([Self.trace(1, 1, isSampled: false)]) == nil)
    }

    @Test("links end at their limit, and the requests are counted", arguments: [0, 2, 3, 4])
    func links(_ limit: Int) async throws {
        let traces = (1...3).map { Self.trace(1, $0) }
        let record = try #require(try await self.deliver(traces, maxLinks: limit))
        #expect(record.links.count == min(limit, 3))
        #expect(
            record.attributes.list.contains {
                $0.name == "sightline.delivery.requests" && $0.value == 3
            })
    }

    @Test(
        "a batch that is not delivered is an error, with its reason if the words are ours",
        arguments: [
            (.unavailable(reason: "down"), "unavailable", "down"),
            (.rejected([0: "no such delivery"]), "rejected", nil),
            (.unreadable(reason: "no protobuf"), "undeliverable", "no protobuf"),
        ] as [(SinkAnswer, String, String?)])
    func failures(_ answer: SinkAnswer, _ type: String, _ message: String?) async throws {
        let record = try #require(try await self.deliver([Self.trace(1, 1)], answer))
        #expect(record.status?.code == .error && record.status?.message == message)
        #expect(
            record.attributes.list.contains {
                $0.name == "error.type" && $0.value == .string(type)
            })
    }

    @Test("the sink's task carries the span on")
    func activeSpan() async throws {
        let batch = try self.batch([Self.trace(1, 1)])
        var active: TraceContext?
        try await withTracer(self.tracer()) {
            let span = try #require(SinkSpan(sink: "test", maxLinks: 1))
            _ = await span.record(batch) {
                active = ServiceContext.current?.traceContext
                return .delivered
            }
        }
        #expect(active == self.queue.takeBatch().first?.context && active != nil)
    }
}
