// What the libraries for metrics and traces are told.
internal import CoreMetrics
internal import InMemoryTracing
internal import MetricsTestKit
internal import ServiceContextModule
internal import SightlineClient
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import Tracing

@Suite(.timeLimit(.minutes(10)))
struct ClientTelemetryTests {
    /// A tracer in memory that injects the header of W3C.
    private struct HeaderTracer: Tracer {
        let inner = InMemoryTracer()

        func startSpan<Instant: TracerInstant>(
            _ operationName: String, context: @autoclosure () -> ServiceContext,
            ofKind kind: SpanKind, at instant: @autoclosure () -> Instant, function: String,
            file fileID: String, line: UInt
        ) -> InMemorySpan {
            self.inner.startSpan(
                operationName, context: context(), ofKind: kind, at: instant(), function: function,
                file: fileID, line: line)
        }

        func forceFlush() { self.inner.forceFlush() }

        func inject<Carrier, Inject: Injector>(
            _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
        ) where Inject.Carrier == Carrier {
            guard context.inMemorySpanContext != nil else { return }
            injector.inject(ClientTelemetryTests.header, forKey: "traceparent", into: &carrier)
        }

        func extract<Carrier, Extract: Extractor>(
            _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
        ) where Extract.Carrier == Carrier {}
    }

    private static let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private let tracer = HeaderTracer()
    private let metrics = TestMetrics()

    @Test("each request has a span of a producer, which ends with its answer or its stream")
    func spans() async throws {
        try await ScriptedServer([.breakOff]).run { address in
            try await RunningClient.with(address, tracer: self.tracer, metrics: self.metrics) {
                client in
                for ticket in try await client.send(0..<3) { _ = try await ticket.result }
                try await client.close(timeout: .seconds(300))
            }
            let spans = self.tracer.inner.finishedSpans
            #expect(spans.allSatisfy { $0.kind == .producer })
            #expect(spans.allSatisfy { $0.operationName == "send sightline.v1" })
            #expect(
                spans.first?.attributes.get("server.port") == .int64(Int64(address.port)))
            #expect(spans.first?.status?.code == .error)
            let settled = spans.filter { $0.status == nil }
            let counts = settled.map { $0.attributes.get("messaging.batch.message_count") }
            #expect(counts == [.int64(2), .int64(1)])
            #expect(
                settled.first?.attributes.get("messaging.system") == .string("sightline"))
        }
    }

    @Test("an event within a span carries that on, and one with a trace of its own keeps it")
    func traces() async throws {
        let server = ScriptedServer()
        var own = TestEvents.event("own")
        own.traceContext.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        try await server.run { address in
            try await RunningClient.with(address, tracer: self.tracer, metrics: self.metrics) {
                client in
                try await self.tracer.withSpan("outer") { _ in
                    try await client.send(own)
                    try await client.send(TestEvents.event("e1"))
                }
                try await client.send(TestEvents.event("e2"))
                try await client.close(timeout: .seconds(300))
            }
        }
        let events = server.requests.flatMap(\.events)
        #expect(events.map(\.eventID) == ["own", "e1", "e2"])
        #expect(events[0] == own)
        #expect(events[1].traceContext.traceparent == Self.header)
        #expect(!events[2].hasTraceContext)
    }

    @Test("verdicts, resends and refusals are counted, and what is pending is measured")
    func counts() async throws {
        try await ScriptedServer([.settle(.retryLater), .breakOff, .settle(.duplicate)]).run {
            address in
            try await RunningClient.with(address, tracer: self.tracer, metrics: self.metrics) {
                $0.maxPendingEvents = 2
            } _: { client in
                _ = try await client.send(0..<2)
                await #expect(throws: SightlineClientError.full) {
                    try await client.trySend(TestEvents.event("e2"))
                }
                try await client.close(timeout: .seconds(300))
            }
            let target = [("target", address.description)]
            func count(_ name: String, _ verdict: [(String, String)] = []) throws -> Int64 {
                try self.metrics.expectCounter(
                    "sightline_client_\(name)_total", target + verdict
                ).totalValue
            }
            #expect(try count("events", [("verdict", "duplicate")]) == 2)
            #expect(try count("retried_events") == 2)
            #expect(try count("resent_requests") == 1)
            #expect(try count("reconnections") == 1)
            let pending = try self.metrics.expectRecorder(
                "sightline_client_pending_events", target)
            #expect(pending.values.last == 0)
        }
    }
}
