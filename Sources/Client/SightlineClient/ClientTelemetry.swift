internal import CoreMetrics
internal import Instrumentation
internal import ServiceContextModule
internal import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization
internal import Tracing

/// Metrics by swift-metrics and spans by swift-distributed-tracing. Without a backend they cost
/// almost nothing.
final class ClientTelemetry: Sendable {
    private struct State: Sendable {
        var spans: [UInt64: any Span] = [:]
        var told = ClientStatistics()
        var counters: [String: Counter] = [:]
    }

    private let address: ServerAddress
    private let tracer: (any Tracer)?
    private let metrics: any MetricsFactory
    private let dimensions: [(String, String)]
    private let pendingEvents: Gauge
    private let pendingBytes: Gauge
    private let state = Mutex(State())

    /// Creates it with a tracer; nil uses the process's tracer, which may be set later.
    init(address: ServerAddress, tracer: (any Tracer)?, metrics: any MetricsFactory) {
        self.address = address
        self.tracer = tracer
        self.metrics = metrics
        self.dimensions = [("target", address.description)]
        self.pendingEvents = Gauge(
            label: "sightline_client_pending_events", dimensions: self.dimensions,
            factory: metrics)
        self.pendingBytes = Gauge(
            label: "sightline_client_pending_bytes", dimensions: self.dimensions, factory: metrics)
    }

    /// The event field, encoded, that carries the current span's context; nil without a span.
    func traceField() -> [UInt8]? {
        guard let context = ServiceContext.current, !context.isEmpty else { return nil }
        var carrier: [String: String] = [:]
        let instrument = self.tracer ?? InstrumentationSystem.instrument
        instrument.inject(context, into: &carrier, using: CarrierInjector())
        guard let traceparent = carrier["traceparent"] else { return nil }
        let event = Sightline_V1_TrackingEvent.with {
            $0.traceContext.traceparent = traceparent
            $0.traceContext.tracestate = carrier["tracestate"] ?? ""
        }
        // Cannot fail: the message has two strings and no required field.
        return try? event.serializedBytes()
    }

    private struct CarrierInjector: Injector {
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
            carrier[key] = value
        }
    }

    // MARK: Spans

    /// Begins the span of a request that is being written.
    func begin(_ request: OutboxRequest) {
        let tracer = self.tracer ?? InstrumentationSystem.tracer
        guard !(tracer is NoOpTracer) else { return }
        let span = tracer.startAnySpan("send sightline.v1", ofKind: .producer)
        span.attributes["messaging.system"] = "sightline"
        span.attributes["messaging.destination.name"] = "sightline.v1"
        span.attributes["messaging.operation.name"] = "send"
        span.attributes["messaging.operation.type"] = "send"
        span.attributes["messaging.batch.message_count"] = request.tickets.count
        span.attributes["server.address"] = self.address.host
        span.attributes["server.port"] = self.address.port
        self.state.withLock { $0.spans[request.sequence] = span }
    }

    /// Ends the spans of a stream that has ended: their requests got no answer.
    func endSpans() {
        let spans = self.state.withLock { state in
            defer { state.spans = [:] }
            return Array(state.spans.values)
        }
        for span in spans {
            span.setStatus(SpanStatus(code: .error, message: "the stream ended before its answer"))
            span.end()
        }
    }

    /// Ends the spans of settled requests, and reports the changes to the metrics.
    func record(_ statistics: ClientStatistics, settledBefore sequence: UInt64) {
        let settled = self.state.withLock { state -> [any Span] in
            self.tell(statistics, &state)
            guard !state.spans.isEmpty else { return [] }
            let numbers = state.spans.keys.filter { $0 < sequence }
            return numbers.compactMap { state.spans.removeValue(forKey: $0) }
        }
        for span in settled { span.end() }
    }

    // MARK: Metrics

    private func tell(_ statistics: ClientStatistics, _ state: inout State) {
        self.pendingEvents.record(statistics.pendingCount)
        self.pendingBytes.record(statistics.pendingByteCount)
        let told = state.told
        state.told = statistics
        for (verdict, count) in statistics.verdicts {
            let grown = count - (told.verdicts[verdict] ?? 0)
            self.add(grown, "sightline_client_events_total", verdict.label, &state)
        }
        let counts = [
            ("reconnections", statistics.reconnectionCount - told.reconnectionCount),
            ("resent_requests", statistics.resentRequestCount - told.resentRequestCount),
            ("retried_events", statistics.retriedEventCount - told.retriedEventCount),
            ("refused_events", statistics.refusedCount - told.refusedCount),
        ]
        for (name, grown) in counts {
            self.add(grown, "sightline_client_\(name)_total", nil, &state)
        }
    }

    private func add(_ count: Int, _ name: String, _ verdict: String?, _ state: inout State) {
        guard count > 0 else { return }
        let key = name + (verdict ?? "")
        let verdicts = verdict.map { [("verdict", $0)] } ?? []
        let counter =
            state.counters[key]
            ?? Counter(
                label: name, dimensions: self.dimensions + verdicts, factory: self.metrics)
        state.counters[key] = counter
        counter.increment(by: count)
    }
}

extension Sightline_V1_Verdict {
    /// The label's value: a name in snake case, or `unknown` for a verdict of a newer server.
    fileprivate var label: String {
        switch self {
        case .accepted: "accepted"
        case .suppressedFlagOff: "suppressed_flag_off"
        case .suppressedFlagUnknown: "suppressed_flag_unknown"
        case .suppressedConsent: "suppressed_consent"
        case .suppressedTestMessage: "suppressed_test_message"
        case .suppressedDisplay: "suppressed_display"
        case .duplicate: "duplicate"
        case .rejected: "rejected"
        case .retryLater, .unspecified, .UNRECOGNIZED: "unknown"
        }
    }
}
