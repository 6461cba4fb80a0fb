internal import Foundation
package import SinkKit

/// Delivers to one sink again what is kept since some time. A sink that knows hits by their id
/// keeps each once; another one has them twice.
package struct HitReplay: Sendable {
    private let sink: any Sink
    private let filter: HitFilter?
    // Not the journal's: a sink that keeps its place there would pass over what it has had.
    private let journal = HitBatch.replayJournal(UUID().uuidString.lowercased())

    /// The outcome of a replay.
    package struct Counts: Sendable, Equatable, Codable {
        /// Hits that the sink has taken again.
        package var delivered = 0
        /// Hits that it refused, or cannot be given; a replay does not make dead letters of them.
        package var refused = 0
        /// Hits that the sink's filter does not pass.
        package var filtered = 0

        /// Creates counts.
        package init(delivered: Int = 0, refused: Int = 0, filtered: Int = 0) {
            (self.delivered, self.refused, self.filtered) = (delivered, refused, filtered)
        }

        /// Adds the outcome of another replay.
        package static func += (left: inout Self, right: Self) {
            left.delivered += right.delivered
            left.refused += right.refused
            left.filtered += right.filtered
        }

        /// Whether nothing was there to deliver.
        package var isEmpty: Bool { self == Self() }
    }

    /// Creates a replay to a sink, of the hits that its filter passes.
    package init(to sink: any Sink, filter: HitFilter?) {
        self.sink = sink
        self.filter = filter
    }

    /// The page after a place, 0 for the first; nil at the end.
    package typealias Pages = (Int64) async throws -> HitPage?

    /// Delivers page by page, one source after the other.
    ///
    /// - Throws: `HitReplayInterruption` if the sink is unavailable or the server stops, or errors
    ///   of the sources.
    package func run(_ sources: [Pages]) async throws -> Counts {
        var counts = Counts()
        var sequence: Int64 = 0
        for next in sources {
            var last: Int64 = 0
            while let page = try await next(last) {
                if Task.isStopping {
                    throw HitReplayInterruption(
                        sink: self.sink.name, reason: Task.stopReason, counts: counts)
                }
                last = page.last
                counts.refused += page.unreadable
                sequence += 1
                try await self.deliver(page, sequence: sequence, &counts)
            }
        }
        return counts
    }

    private func deliver(
        _ page: HitPage, sequence: Int64, _ counts: inout Counts
    ) async throws {
        let all = HitBatch(journal: self.journal, sequence: sequence, payload: page.payload)
        let hits = try self.filter.map { try all.filtered(by: $0) } ?? all
        counts.filtered += all.hitCount - hits.hitCount
        if hits.hitCount == 0 { return }
        switch await self.sink.deliver(hits) {
        case .delivered: counts.delivered += hits.hitCount
        case .rejected(let reasons):
            counts.refused += reasons.count
            counts.delivered += hits.hitCount - reasons.count
        case .unreadable: counts.refused += hits.hitCount
        case .unavailable(let reason), .progressed(let reason), .suspended(let reason),
            .dataLoss(let reason):
            throw HitReplayInterruption(sink: self.sink.name, reason: reason, counts: counts)
        }
    }
}

/// Why a replay of kept hits stopped early.
package struct HitReplayInterruption: Error, CustomStringConvertible {
    /// The sink's name.
    package let sink: String
    /// The sink's reason.
    package let reason: String
    /// The outcome up to then.
    package let counts: HitReplay.Counts

    /// What happened, and the fix, in one line.
    package var description: String {
        "the replay to the sink \(self.sink) stopped: \(self.reason). "
            + "\(self.counts.delivered) hits were delivered before that: begin again"
    }
}
