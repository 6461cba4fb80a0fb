// A sink whose hits are counted on the way: there only where somebody looks at the counts.

/// Passes batches on to a sink, and counts what that has taken.
package struct CountedSink: Sink {
    private let sink: any Sink
    private let funnels: LiveFunnels

    /// The sink's own name.
    package var name: String { self.sink.name }

    /// The sink's own place.
    package var place: String { self.sink.place }

    /// Counts into `funnels` what `sink` takes.
    package init(_ sink: any Sink, into funnels: LiveFunnels) {
        self.sink = sink
        self.funnels = funnels
    }

    /// Goes on from the sink's own place.
    package func resume(at place: String) { self.sink.resume(at: place) }

    /// Delivers to the sink; what it has refused or could not take is not counted.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        let answer = await self.sink.deliver(hits)
        switch answer {
        case .delivered: self.funnels.count(hits)
        case .rejected(let reasons): self.funnels.count(hits, except: Set(reasons.keys))
        case .unavailable, .undeliverable, .lost: break
        }
        return answer
    }
}
