// The server's place in its clients' traces.
internal import GRPCCore
internal import Instrumentation
internal import Tracing
internal import TrackingCore

/// Gives each request the trace context that its records carry on: a span of the server's own,
/// child of the event's trace or else of the RPC's, or the start of a new trace.
struct RequestTrace: Sendable {
    private let method: String
    private let rpc: TraceContext?
    private let tracer: (any Tracer)?
    private var generator = SpanIDGenerator()

    /// The trace of an RPC with these metadata; a malformed traceparent counts as none.
    init(method: MethodDescriptor, metadata: Metadata) {
        self.method = method.fullyQualifiedMethod
        self.rpc = Self.context(in: metadata)
        let tracer = InstrumentationSystem.tracer
        self.tracer = tracer is NoOpTracer ? nil : tracer
    }

    /// Begins the server's span for one request, whose events carry `event`. Without a tracer
    /// nobody records it; its context is made all the same.
    mutating func begin(event: TraceContext?) -> (context: TraceContext, span: RequestSpan?) {
        let parent = event ?? self.rpc
        let own =
            parent?.child(using: &self.generator)
            ?? TraceContext.random(using: &self.generator)
        guard let tracer = self.tracer else { return (own, nil) }
        let span = RequestSpan(self.method, parent: parent, fallback: own, tracer: tracer)
        return (span.context, span)
    }

    private static func context(in metadata: Metadata) -> TraceContext? {
        // Two traceparents contradict each other: the specification counts them as none.
        let parents = Array(metadata[stringValues: "traceparent"])
        guard parents.count == 1, var parent = parents.first else { return nil }
        var state = Array(metadata[stringValues: "tracestate"]).joined(separator: ",")
        return parent.withUTF8 { parent in
            state.withUTF8 { state in
                TraceContext(traceparent: Bytes(parent), tracestate: Bytes(state))
            }
        }
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
