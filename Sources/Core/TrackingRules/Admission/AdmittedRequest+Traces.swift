package import W3CTrace

extension AdmittedRequest {
    /// The distinct trace contexts of the accepted events, in order. It parses a header for each
    /// event, so call it only when a span is recorded.
    ///
    /// - Parameter limit: the maximum number of contexts to return.
    package func eventTraces(limit: Int) -> [TraceContext] {
        var traces: [TraceContext] = []
        var seen: Set<TraceContext.SpanKey> = []
        self.entries.withUnsafeBytes { entries in
            for accepted in self.acceptedEvents {
                guard traces.count < limit else { return }
                let event = HitEncoding.eventBytes(at: accepted.entryOffset, in: entries)
                let traceparent = event.part(accepted.answer.traceparent)
                guard !traceparent.isEmpty,
                    let trace = TraceContext(
                        traceparent: traceparent,
                        tracestate: event.part(accepted.answer.tracestate)),
                    seen.insert(trace.spanKey).inserted
                else { continue }
                traces.append(trace)
            }
        }
        return traces
    }
}

extension TraceContext {
    /// Identifies a span by its trace and span ids.
    package struct SpanKey: Hashable {
        private let traceID: TraceID
        private let spanID: UInt64

        fileprivate init(_ context: TraceContext) {
            self.traceID = context.traceID
            self.spanID = context.spanID
        }
    }

    /// The context's identity, without its sampling decision and tracestate.
    package var spanKey: SpanKey { SpanKey(self) }
}
