internal import SinkKit
internal import TrackingRules

/// A sink of the public seam as the server knows sinks.
struct AdaptedSink: Sink {
    let sink: any HitSink

    var name: String { self.sink.name }
    var maxBatch: BatchLimit {
        BatchLimit(hits: max(1, self.sink.maxHits), bytes: BatchLimit.standard.bytes)
    }

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
        let batch: PublicBatch
        do {
            batch = try PublicBatch(hits)
        } catch {
            return SinkAnswer(failure: error)
        }
        if batch.hits.isEmpty { return .delivered }
        let result = await self.sink.deliver(
            SinkBatch(journalID: hits.journal, hits: batch.hits))
        switch result {
        case .delivered: return .delivered
        case .unavailable(let reason): return .unavailable(reason: reason)
        case .lost(let reason): return .dataLoss(reason: reason)
        case .rejected(let reasons):
            let unknown = reasons.keys.first { !batch.hits.indices.contains($0) }
            if let unknown {
                return .unavailable(
                    reason: "it rejected the hit \(unknown) of \(batch.hits.count)")
            }
            return SinkAnswer(rejected: reasons)
        }
    }
}
