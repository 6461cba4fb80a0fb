// One server span per request, through swift-distributed-tracing: any backend may be bootstrapped.
// Names follow OpenTelemetry's semantic conventions 1.44.
internal import GRPCCore
internal import Instrumentation
internal import ServiceContextModule
internal import Synchronization
internal import Tracing
internal import TrackingCore

/// The recorded span of a request, from its arrival to its answer.
final class RequestSpan: Sendable {
    /// Where the trace goes on: what the request's records carry.
    let context: TraceContext
    private let span: any Span
    private let tracer: any Tracer
    private let hasEnded = Atomic(false)

    /// A span that a tracer has started at a place.
    init(_ span: any Span, of tracer: any Tracer, context: TraceContext) {
        self.span = span
        self.tracer = tracer
        self.context = context
    }

    /// Starts a span with any tracer. `fallback` holds where its propagation is not W3C's.
    convenience init(
        _ method: String, parent: TraceContext?, baggage: Baggage?, startTime: UInt64,
        fallback: TraceContext, tracer: any Tracer
    ) {
        let service = tracer.serviceContext(of: parent, baggage)
        let span = tracer.startSpan(
            method, context: service, ofKind: .server,
            at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: startTime))
        self.init(span, of: tracer, context: tracer.traceContext(of: span.context) ?? fallback)
    }

    /// A stream that ends before it has answered a request leaves its span to nobody.
    deinit {
        guard !self.hasEnded.load(ordering: .relaxed) else { return }
        self.fail("the call ended before its answer", type: "unanswered")
    }

    var isRecording: Bool { self.span.isRecording }

    /// What the task that serves the request may carry on.
    var serviceContext: ServiceContext { self.span.context }

    /// Says what is called.
    func begin(method: String) {
        self.span.updateAttributes { attributes in
            attributes["rpc.system.name"] = "grpc"
            attributes["rpc.method"] = method
        }
    }

    /// Links the span to others, each once.
    func link(to contexts: [TraceContext], except parent: TraceContext?) {
        var seen: Set<TraceContext.SpanKey> = []
        if let parent { seen.insert(parent.spanKey) }
        for context in contexts where seen.insert(context.spanKey).inserted {
            self.span.addLink(
                SpanLink(context: self.tracer.serviceContext(of: context, nil), attributes: [:]))
        }
    }

    /// Ends the span with what became of the request.
    ///
    /// - Parameter isUnary: whether its answer is the end of its call; a stream's status comes
    ///   later, and belongs to none of its requests.
    func end(_ request: AdmittedRequest, isUnary: Bool = false) {
        let tally = request.tally
        self.span.updateAttributes { attributes in
            if isUnary { attributes["rpc.response.status_code"] = "OK" }
            if request.sequence > 0 {
                attributes["sightline.request.sequence"] = Int(truncatingIfNeeded: request.sequence)
            }
            attributes["sightline.request.events"] = request.eventCount
            attributes["sightline.request.accepted"] = tally.accepted
            attributes["sightline.request.suppressed"] = tally.suppressed
            attributes["sightline.request.duplicate"] = tally.duplicate
            attributes["sightline.request.rejected"] = tally.rejected
            attributes["sightline.request.retry_later"] = tally.retryLater
            if let violation = request.violation {
                attributes["sightline.request.violation"] = "\(violation.code)"
            }
        }
        if request.isToRetry {
            self.fail("the journal has not taken it", type: "retry_later")
        } else {
            self.end()
        }
    }

    /// Ends the span of a call that ends so.
    func end(_ code: Status.Code) {
        self.span.attributes["rpc.response.status_code"] = code.name
        if code.isServerError {
            self.fail("the call ended with \(code.name)", type: code.name)
        } else {
            self.end()
        }
    }

    private func fail(_ message: String, type: String) {
        self.span.attributes["error.type"] = type
        self.span.setStatus(SpanStatus(code: .error, message: message))
        self.end()
    }

    private func end() {
        guard !self.hasEnded.exchange(true, ordering: .relaxed) else { return }
        self.span.end()
    }
}

extension Tracer {
    /// A service context that continues a trace, as this tracer reads it from its headers.
    fileprivate func serviceContext(
        of trace: TraceContext?, _ baggage: Baggage?
    ) -> ServiceContext {
        var headers: [String: String] = [:]
        if let trace {
            headers["traceparent"] = trace.traceparent
            if !trace.tracestate.isEmpty { headers["tracestate"] = trace.tracestate }
        }
        headers["baggage"] = baggage?.header
        var service = ServiceContext.topLevel
        self.extract(headers, into: &service, using: HeaderAccess())
        return service
    }

    /// The place of a span, as this tracer writes it to headers; nil where they are not W3C's.
    fileprivate func traceContext(of span: ServiceContext) -> TraceContext? {
        var headers: [String: String] = [:]
        self.inject(span, into: &headers, using: HeaderAccess())
        guard let traceparent = headers["traceparent"] else { return nil }
        return TraceContext(traceparent: traceparent, tracestate: headers["tracestate"] ?? "")
    }
}

/// Lets a tracer read and write headers.
private struct HeaderAccess: Extractor, Injector {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }

    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
        carrier[key] = value
    }
}
