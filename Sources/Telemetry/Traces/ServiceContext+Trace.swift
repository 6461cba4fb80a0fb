// What a service context carries between the spans of a process.
package import ServiceContextModule
package import TrackingCore

/// The key of the span that is active.
private enum TraceContextKey: ServiceContextKey {
    typealias Value = TraceContext
    static var nameOverride: String? { "trace" }
}

/// The key of whether that span is another process's.
private enum RemoteTraceKey: ServiceContextKey {
    typealias Value = Bool
    static var nameOverride: String? { "trace_is_remote" }
}

/// The key of the baggage.
private enum BaggageKey: ServiceContextKey {
    typealias Value = Baggage
    static var nameOverride: String? { "baggage" }
}

extension ServiceContext {
    /// The span that is active, or that a remote caller has sent.
    package var traceContext: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }

    /// Whether that span is another process's.
    var isTraceRemote: Bool {
        get { self[RemoteTraceKey.self] ?? false }
        set { self[RemoteTraceKey.self] = newValue ? true : nil }
    }

    /// The baggage that came with it.
    package var baggage: Baggage? {
        get { self[BaggageKey.self] }
        set { self[BaggageKey.self] = newValue }
    }
}
