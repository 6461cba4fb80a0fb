package import SinkKit
package import TrackingRules

/// Delivers to another sink and counts what that took. Used only if funnels are shown.
package struct CountedSink: Sink {
    private let sink: any Sink
    private let funnels: LiveFunnels
    private let isCounted: @Sendable () -> Bool

    /// The wrapped sink's name.
    package var name: String { self.sink.name }

    /// The wrapped sink's database.
    package var database: String? { self.sink.database }

    /// The wrapped sink's limit.
    package var maxBatch: BatchLimit { self.sink.maxBatch }

    /// The wrapped sink's place.
    package var place: String { self.sink.place }

    /// Wraps `sink` and counts into `funnels` while `isCounted` is true.
    package init(
        _ sink: any Sink, into funnels: LiveFunnels,
        while isCounted: @escaping @Sendable () -> Bool = { true }
    ) {
        self.isCounted = isCounted
        self.sink = sink
        self.funnels = funnels
    }

    /// Resumes the wrapped sink.
    package func resume(at place: String) { self.sink.resume(at: place) }

    /// Delivers to the wrapped sink. Rejected and undelivered hits are not counted.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        let answer = await self.sink.deliver(hits)
        guard self.isCounted() else { return answer }
        switch answer {
        case .delivered: self.funnels.count(hits)
        case .rejected(let reasons): self.funnels.count(hits, except: Set(reasons.keys))
        case .unavailable, .partly, .gone, .undeliverable, .lost: break
        }
        return answer
    }
}
