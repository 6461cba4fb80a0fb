// Spans as the tracer makes them.
internal import ServiceContextModule
@testable internal import Telemetry
internal import Tracing
internal import W3CTrace

enum TestSpans {
    static let traceID = TraceContext.TraceID(high: 0x0102, low: 0x0304)

    static func context(_ spanID: UInt64, isSampled: Bool = true, state: String = "")
        -> TraceContext
    {
        TraceContext(
            traceID: self.traceID, spanID: spanID, isSampled: isSampled, tracestate: state)
    }

    static func record(_ name: String = "span", limits: SpanLimits = SpanLimits()) -> SpanRecord {
        SpanRecord(
            name, kind: .server, context: self.context(1), parent: nil, isParentRemote: false,
            startTime: 1000, limits: limits)
    }

    /// A link to a span.
    static func link(_ spanID: UInt64, state: String = "") -> SpanLink {
        var context = ServiceContext.topLevel
        context.traceContext = self.context(spanID, state: state)
        return SpanLink(context: context, attributes: ["a": 1])
    }

    /// A tracer, and the queue that its spans end up in.
    static func tracer(
        _ sampler: String = "parentbased_always_on", limits: SpanLimits = SpanLimits()
    ) -> (SpanTracer, SpanQueue) {
        let queue = SpanQueue(capacity: 100, batchSize: 100, counts: SpanCounts())
        let tracer = SpanTracer(
            sampler: Sampler(name: sampler, ratio: 0.5), limits: limits, queue: queue)
        return (tracer, queue)
    }
}
