package import GRPCCore
internal import Instrumentation
package import ServiceContextModule
internal import Synchronization
package import Telemetry
package import Tracing
package import TrackingRules
package import W3CTrace

/// The recorded server span of a request, from arrival to answer. Names follow OpenTelemetry's
/// semantic conventions 1.45.
package final class RequestSpan: Sendable {
    /// The trace context that the request's records carry.
    package let context: TraceContext
    private let span: any Span
    private let tracer: any Tracer
    private let exemplars: ExemplarRecorder?
    private let hasEnded = Atomic(false)

    /// Wraps a started span of `tracer`; `exemplars` take the time until its request is settled.
    package init(
        _ span: any Span, of tracer: any Tracer, context: TraceContext,
        exemplars: ExemplarRecorder? = nil
    ) {
        self.exemplars = exemplars
        self.span = span
        self.tracer = tracer
        self.context = context
    }

    /// Starts a span with any tracer. `fallback` is used if its propagation is not W3C's.
    package convenience init(
        _ method: String, parent: TraceContext?, baggage: Baggage?, startTime: UInt64,
        fallback: TraceContext, tracer: any Tracer, exemplars: ExemplarRecorder? = nil
    ) {
        let service = tracer.serviceContext(of: parent, baggage)
        let span = tracer.startSpan(
            method, context: service, ofKind: .server,
            at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: startTime))
        self.init(
            span, of: tracer, context: tracer.traceContext(of: span.context) ?? fallback,
            exemplars: exemplars)
    }

    /// Ends the span of a request that was never answered, because its stream ended first.
    deinit {
        guard !self.hasEnded.load(ordering: .relaxed) else { return }
        self.fail("the call ended before its answer", type: "unanswered")
    }

    var isRecording: Bool { self.span.isRecording }

    /// The context for the task that serves the request.
    package var serviceContext: ServiceContext { self.span.context }

    /// Sets the attributes of the method.
    package func begin(method: String) {
        self.span.updateAttributes { attributes in
            attributes["rpc.system.name"] = "grpc"
            attributes["rpc.method"] = method
        }
    }

    /// Links the span to other spans, each once.
    package func link(to contexts: [TraceContext], except parent: TraceContext?) {
        var seen: Set<TraceContext.SpanKey> = []
        if let parent { seen.insert(parent.spanKey) }
        for context in contexts where seen.insert(context.spanKey).inserted {
            self.span.addLink(
                SpanLink(context: self.tracer.serviceContext(of: context, nil), attributes: [:]))
        }
    }

    /// Ends the span with the request's outcome.
    ///
    /// - Parameter isUnary: whether the answer ends the call; a stream's status comes later and
    ///   belongs to none of its requests.
    package func end(_ request: AdmittedRequest, isUnary: Bool = false) {
        let tally = request.tally
        self.span.updateAttributes { attributes in
            if isUnary { attributes["rpc.status_code"] = "OK" }
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
        if self.isRecording, request.settleTime > 0 {
            let seconds = Double(max(0, request.settleTime &- request.receiveTime)) / 1e6
            self.exemplars?.offer(
                Exemplar(value: seconds, of: self.context, time: request.settleTime))
        }
        if request.isToRetry {
            self.fail("the journal has not taken it", type: "retry_later")
        } else {
            self.end()
        }
    }

    /// Ends the span of a failed call.
    package func end(_ code: Status.Code) {
        self.span.attributes["rpc.status_code"] = code.name
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
    /// A service context that continues `trace`, extracted by this tracer from headers.
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

    /// The W3C context of a span, injected by this tracer into headers; nil if it writes others.
    fileprivate func traceContext(of span: ServiceContext) -> TraceContext? {
        var headers: [String: String] = [:]
        self.inject(span, into: &headers, using: HeaderAccess())
        guard let traceparent = headers["traceparent"] else { return nil }
        return TraceContext(traceparent: traceparent, tracestate: headers["tracestate"] ?? "")
    }
}

private struct HeaderAccess: Extractor, Injector {
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }

    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
        carrier[key] = value
    }
}
