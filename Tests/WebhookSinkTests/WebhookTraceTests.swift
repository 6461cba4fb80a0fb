// The header traceparent of a webhook's requests: the attempt's own, not the event's.
@testable internal import Delivery
internal import SightlineProtos
internal import SinkTestSupport
@testable internal import Telemetry
internal import SinkKit
internal import TestSupport
internal import Testing
internal import Tracing
internal import W3CTrace
internal import WebhookSink

@Suite("the trace of a webhook's requests")
struct WebhookTraceTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    @Test("each attempt has its own span in the header, and the events keep theirs")
    func attempts() async throws {
        let receiver = try TestReceiver([.answer(503)])
        let sink = try WebhookSink(.test(receiver, self.directory))
        let queue = SpanQueue(capacity: 10, batchSize: 10, counts: SpanCounts())
        let tracer = SpanTracer(
            sampler: Sampler(name: "always_on", ratio: 1), limits: SpanLimits(), queue: queue)
        let batch = try TestHits.batch([TestEvents.full(id: 1)], tracestate: "a=1")
        try await withTracer(tracer) {
            let span = try #require(SinkSpan(sink: "webhook", maxLinks: 1))
            for _ in 0..<2 { _ = await span.record(batch) { await sink.deliver(batch) } }
        }
        let spans = queue.takeBatch().map(\.context.traceparent)
        #expect(Set(spans).count == 2)
        #expect(receiver.requests.map { $0.headers["traceparent"] } == spans)
        #expect(receiver.requests.map { $0.headers["tracestate"] } == ["a=1", "a=1"])
        let own = try #require(try batch.records.first).traceContext.traceparent
        #expect(!spans.contains(own))
        #expect(try receiver.events.map(\.record.traceContext.traceparent) == [own, own])
    }

    @Test("without spans there is no such header")
    func nobody() async throws {
        let receiver = try TestReceiver()
        let sink = try WebhookSink(.test(receiver, self.directory))
        let answer = await sink.deliver(try TestHits.batch([TestEvents.full(id: 1)]))
        #expect(answer == .delivered)
        #expect(receiver.requests.map { $0.headers["traceparent"] } == [nil])
    }
}
