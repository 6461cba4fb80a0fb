// One server span per request, through swift-distributed-tracing: any backend may be bootstrapped.
internal import Instrumentation
internal import ServiceContextModule
internal import Tracing
internal import TrackingCore

/// The recorded span of a request, from its arrival to its answer.
final class RequestSpan: Sendable {
    /// Where the trace goes on: what the request's records carry.
    let context: TraceContext
    private let span: any Span

    /// Starts a span with a tracer. `fallback` holds where the tracer's propagation is not W3C's.
    init(_ method: String, parent: TraceContext?, fallback: TraceContext, tracer: any Tracer) {
        var service = ServiceContext.topLevel
        if let parent {
            tracer.extract(Self.headers(parent), into: &service, using: HeaderAccess())
        }
        let span = tracer.startAnySpan(method, context: service, ofKind: .server)
        var headers: [String: String] = [:]
        tracer.inject(span.context, into: &headers, using: HeaderAccess())
        self.span = span
        self.context = Self.context(headers) ?? fallback
    }

    /// Ends the span with what became of the request.
    func end(_ request: AdmittedRequest) {
        self.span.attributes["messaging.batch.message_count"] = request.eventCount
        self.span.attributes["sightline.accepted"] = request.tally.accepted
        self.span.end()
    }

    private static func headers(_ context: TraceContext) -> [String: String] {
        context.tracestate.isEmpty
            ? ["traceparent": context.traceparent]
            : ["traceparent": context.traceparent, "tracestate": context.tracestate]
    }

    private static func context(_ headers: [String: String]) -> TraceContext? {
        guard var parent = headers["traceparent"] else { return nil }
        var state = headers["tracestate"] ?? ""
        return parent.withUTF8 { parent in
            state.withUTF8 { state in
                TraceContext(traceparent: Bytes(parent), tracestate: Bytes(state))
            }
        }
    }
}

/// Lets a tracer read and write headers.
private struct HeaderAccess: Extractor, Injector {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }

    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
        carrier[key] = value
    }
}
