package import GRPCCore
internal import Instrumentation
package import Telemetry
internal import Tracing
package import TrackingRules
package import W3CTrace

/// Determines the trace context that a request's records carry: a server span, child of the event's
/// or else the RPC's span, or the root of a new trace.
package struct RequestTrace: Sendable {
    private let method: String
    private let rpc: TraceContext?
    private let baggage: Baggage?
    private let recorder: Recorder
    private var generator = SpanIDGenerator()

    /// Records spans, or does not.
    private enum Recorder {
        case nobody
        /// Our own tracer, which samples before any allocation, so that an unsampled request costs
        /// hardly more than without a tracer.
        case own(SpanTracer)
        /// Another bootstrapped tracer, which is used through headers.
        case other(any Tracer)

        /// The recorder of the current tracer. Nearly always the instrument is that tracer or
        /// nothing: to search it for a tracer was 1.6 % of the samples of a call with one event.
        static var current: Self {
            switch InstrumentationSystem.instrument {
            case is NoOpInstrument: return .nobody
            case let tracer as SpanTracer: return .own(tracer)
            default: break
            }
            switch InstrumentationSystem.tracer {
            case is NoOpTracer: return .nobody
            case let tracer as SpanTracer: return .own(tracer)
            case let tracer: return .other(tracer)
            }
        }
    }

    /// Reads an RPC's trace context; a malformed traceparent is ignored.
    ///
    /// - Parameter method: the full method name, for spans.
    package init(method: String, metadata: Metadata) {
        self.method = method
        self.rpc = TraceContext(metadata)
        self.recorder = .current
        // Only a tracer uses the baggage.
        if case .nobody = self.recorder {
            self.baggage = nil
        } else {
            self.baggage = Baggage(metadata)
        }
    }

    /// Begins the server span of a request. Unrecorded spans get a context too, for the records.
    ///
    /// - Parameters:
    ///   - request: the admitted request; nil for a call that records nothing.
    ///   - receiveTime: its arrival, in microseconds since 1970.
    ///   - exemplars: take the time until the request is settled.
    package mutating func begin(
        _ request: AdmittedRequest?, receiveTime: Int64, exemplars: ExemplarRecorder? = nil
    ) -> (context: TraceContext, span: RequestSpan?) {
        let parent = request?.trace ?? self.rpc
        let startTime = UInt64(clamping: receiveTime) &* 1000
        switch self.recorder {
        case .nobody:
            let own =
                parent?.child(using: &self.generator)
                ?? TraceContext.random(using: &self.generator)
            return (own, nil)
        case .own(let tracer):
            let own = tracer.place(after: parent, using: &self.generator)
            guard own.isSampled else { return (own, nil) }
            let span = RequestSpan(
                tracer.startSpan(
                    self.method, at: own, after: parent, baggage: self.baggage, kind: .server,
                    startTime: startTime),
                of: tracer, context: own, exemplars: exemplars)
            self.describe(span, of: request, parent: parent, maxLinks: tracer.maxLinks)
            return (own, span)
        case .other(let tracer):
            let own =
                parent?.child(using: &self.generator)
                ?? TraceContext.random(using: &self.generator)
            let span = RequestSpan(
                self.method, parent: parent, baggage: self.baggage, startTime: startTime,
                fallback: own, tracer: tracer, exemplars: exemplars)
            self.describe(span, of: request, parent: parent, maxLinks: Self.maxLinks)
            return (span.context, span)
        }
    }

    /// The maximum links to events' spans for other tracers; OpenTelemetry's default.
    private static let maxLinks = 128

    /// Sets the attributes known at the start, and links to the other spans involved.
    private func describe(
        _ span: RequestSpan, of request: AdmittedRequest?, parent: TraceContext?, maxLinks: Int
    ) {
        guard span.isRecording else { return }
        span.begin(method: self.method)
        // One more than the limit, since the parent may be among them and is not linked.
        let events = request?.eventTraces(limit: maxLinks &+ 1) ?? []
        // Link the RPC's span too, if the event's span is the parent.
        let rpc = self.rpc.map { [$0] } ?? []
        span.link(to: rpc + events, except: parent)
    }
}

/// Generates span and trace ids: unique, not secret, and cheap (SplitMix64, Steele et al. 2014),
/// seeded by the system once per RPC.
struct SpanIDGenerator: RandomNumberGenerator {
    private var state = UInt64.random(in: .min ... .max)

    mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var value = self.state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}
