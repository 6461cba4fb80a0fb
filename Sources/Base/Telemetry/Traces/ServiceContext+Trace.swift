package import ServiceContextModule
package import W3CTrace

private enum TraceContextKey: ServiceContextKey {
    typealias Value = TraceContext
    static var nameOverride: String? { "trace" }
}

private enum RemoteTraceKey: ServiceContextKey {
    typealias Value = Bool
    static var nameOverride: String? { "trace_is_remote" }
}

private enum BaggageKey: ServiceContextKey {
    typealias Value = Baggage
    static var nameOverride: String? { "baggage" }
}

extension ServiceContext {
    /// The active span, or the one that a remote caller sent.
    package var traceContext: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }

    /// Whether that span belongs to another process.
    var isTraceRemote: Bool {
        get { self[RemoteTraceKey.self] ?? false }
        set { self[RemoteTraceKey.self] = newValue ? true : nil }
    }

    /// The baggage that came with the span.
    package var baggage: Baggage? {
        get { self[BaggageKey.self] }
        set { self[BaggageKey.self] = newValue }
    }
}
