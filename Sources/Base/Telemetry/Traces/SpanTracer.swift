package import ServiceContextModule
package import Tracing
package import W3CTrace

/// A tracer of swift-distributed-tracing that follows W3C propagation and queues ended spans for
/// the exporter.
package struct SpanTracer: Tracer {
    private let sampler: Sampler
    private let limits: SpanLimits
    private let queue: SpanQueue

    init(sampler: Sampler, limits: SpanLimits, queue: SpanQueue) {
        self.sampler = sampler
        self.limits = limits
        self.queue = queue
    }

    /// The maximum links of a span.
    package var maxLinks: Int { self.limits.links }

    /// A context for a span with this parent, or for the root of a new trace, with the sampler's
    /// decision. Does not allocate: an unsampled context needs no span.
    package func place(
        after parent: TraceContext?, using generator: inout some RandomNumberGenerator
    ) -> TraceContext {
        let place =
            parent?.child(using: &generator) ?? TraceContext.random(using: &generator)
        return place.sampled(self.sampler.samples(place.traceID, parent: parent))
    }

    /// Starts a span with a sampled context from `place(after:using:)`.
    ///
    /// - Parameters:
    ///   - place: the span's own context.
    ///   - startTime: nanoseconds since 1970.
    package func startSpan(
        _ name: String, at place: TraceContext, after remoteParent: TraceContext?,
        baggage: Baggage?, kind: SpanKind, startTime: UInt64
    ) -> TraceSpan {
        var context = ServiceContext.topLevel
        context.traceContext = place
        context.baggage = baggage
        let record = SpanRecord(
            name, kind: kind, context: place, parent: remoteParent, isParentRemote: true,
            startTime: startTime, limits: self.limits)
        return TraceSpan(record, context: context, queue: self.queue)
    }

    /// Starts a child of the service context's span.
    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind, at instant: @autoclosure () -> Instant, function: String,
        file fileID: String, line: UInt
    ) -> TraceSpan {
        var generator = SystemRandomNumberGenerator()
        var context = context()
        let parent = context.traceContext
        let place = self.place(after: parent, using: &generator)
        context.traceContext = place
        let isRemote = context.isTraceRemote
        context.isTraceRemote = false
        guard place.isSampled else { return TraceSpan(nil, context: context, queue: self.queue) }
        let record = SpanRecord(
            operationName, kind: kind, context: place, parent: parent, isParentRemote: isRemote,
            startTime: instant().nanosecondsSinceEpoch, limits: self.limits)
        return TraceSpan(record, context: context, queue: self.queue)
    }

    /// Reads `traceparent`, `tracestate` and `baggage`; malformed ones are ignored.
    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        if let traceparent = extractor.extract(key: "traceparent", from: carrier),
            let trace = TraceContext(
                traceparent: traceparent,
                tracestate: extractor.extract(key: "tracestate", from: carrier) ?? "")
        {
            context.traceContext = trace
            context.isTraceRemote = true
        }
        if let header = extractor.extract(key: "baggage", from: carrier),
            let baggage = Baggage(header: header)
        {
            context.baggage = baggage
        }
    }

    /// Writes `traceparent`, `tracestate` and `baggage` if the context has them.
    package func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        if let trace = context.traceContext {
            injector.inject(trace.traceparent, forKey: "traceparent", into: &carrier)
            if !trace.tracestate.isEmpty {
                injector.inject(trace.tracestate, forKey: "tracestate", into: &carrier)
            }
        }
        if let baggage = context.baggage {
            injector.inject(baggage.header, forKey: "baggage", into: &carrier)
        }
    }

    /// Does nothing: the exporter sends within its delay, and flushes at shutdown.
    package func forceFlush() {}
}
