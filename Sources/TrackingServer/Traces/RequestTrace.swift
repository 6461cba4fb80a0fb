// The server's place in its clients' traces.
internal import GRPCCore
internal import Instrumentation
internal import Telemetry
internal import Tracing
internal import TrackingCore

/// Gives each request of an RPC the trace context that its records carry on: a span of the server's
/// own, child of the event's trace or else of the RPC's, or the start of a new trace.
struct RequestTrace: Sendable {
    private let method: String
    private let rpc: TraceContext?
    private let baggage: Baggage?
    private let recorder: Recorder
    private var generator = SpanIDGenerator()

    /// Who records spans.
    private enum Recorder {
        case nobody
        /// Our own tracer says before anything is made whether a request is recorded: most cost
        /// no more than without a tracer.
        case own(SpanTracer)
        /// Any other that was bootstrapped; it speaks in headers.
        case other(any Tracer)
    }

    /// The trace of an RPC with these metadata; a malformed traceparent counts as none.
    ///
    /// - Parameter method: the full name of what is called, as spans have it.
    init(method: String, metadata: Metadata) {
        self.method = method
        self.rpc = TraceContext(metadata)
        switch InstrumentationSystem.tracer {
        case is NoOpTracer: self.recorder = .nobody
        case let tracer as SpanTracer: self.recorder = .own(tracer)
        case let tracer: self.recorder = .other(tracer)
        }
        // Nobody but a tracer has a use for it.
        if case .nobody = self.recorder {
            self.baggage = nil
        } else {
            self.baggage = Baggage(metadata)
        }
    }

    /// Begins the server's span for one request. Where nobody records it, its context is made all
    /// the same.
    ///
    /// - Parameters:
    ///   - request: the admitted request; nil for one that carries nothing on.
    ///   - receiveTime: when it came, in microseconds since 1970.
    mutating func begin(
        _ request: AdmittedRequest?, receiveTime: Int64
    ) -> (context: TraceContext, span: RequestSpan?) {
        let parent = request?.eventTrace ?? self.rpc
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
                of: tracer, context: own)
            self.describe(span, request, parent, maxLinks: tracer.maxLinks)
            return (own, span)
        case .other(let tracer):
            let own =
                parent?.child(using: &self.generator)
                ?? TraceContext.random(using: &self.generator)
            let span = RequestSpan(
                self.method, parent: parent, baggage: self.baggage, startTime: startTime,
                fallback: own, tracer: tracer)
            self.describe(span, request, parent, maxLinks: Self.maxLinks)
            return (span.context, span)
        }
    }

    /// Links to events' traces that another's tracer gets at most: OpenTelemetry's default.
    private static let maxLinks = 128

    /// What is known of a span at its start, and the traces beside its parent's that it is for.
    private func describe(
        _ span: RequestSpan, _ request: AdmittedRequest?, _ parent: TraceContext?, maxLinks: Int
    ) {
        guard span.isRecording else { return }
        span.begin(method: self.method)
        // One more: the parent's may be among them, and is no link.
        let events = request?.eventTraces(limit: maxLinks &+ 1) ?? []
        // The RPC's own, where the event's is continued: both belong to it.
        let rpc = self.rpc.map { [$0] } ?? []
        span.link(to: rpc + events, except: parent)
    }
}

/// Span and trace ids: random enough to be unique, and cheap (SplitMix64, Steele et al. 2014),
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
