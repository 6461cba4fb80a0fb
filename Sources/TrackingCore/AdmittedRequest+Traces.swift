// The traces that a request's events belong to: read only where a span is recorded.

extension AdmittedRequest {
    /// The trace contexts of its accepted events, each once, in order.
    ///
    /// - Parameter limit: contexts to be read at most.
    package func eventTraces(limit: Int) -> [TraceContext] {
        var traces: [TraceContext] = []
        var seen: Set<TraceContext.SpanKey> = []
        self.entries.withUnsafeBytes { entries in
            for claim in self.claims {
                guard traces.count < limit else { return }
                // The event was read when it was admitted, so this does not fail.
                guard
                    let event = try? EventView(HitBlock.event(at: claim.entryOffset, in: entries)),
                    !event.traceparent.isEmpty,
                    let trace = TraceContext(
                        traceparent: event.traceparent, tracestate: event.tracestate),
                    seen.insert(trace.spanKey).inserted
                else { continue }
                traces.append(trace)
            }
        }
        return traces
    }
}

extension TraceContext {
    /// What tells two spans apart.
    package struct SpanKey: Hashable {
        private let traceID: TraceID
        private let spanID: UInt64

        fileprivate init(_ context: TraceContext) {
            self.traceID = context.traceID
            self.spanID = context.spanID
        }
    }

    /// What tells it from other spans.
    package var spanKey: SpanKey { SpanKey(self) }
}
