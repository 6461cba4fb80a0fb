// What is counted of a sink's deliveries. The server names the metrics; the forwarder adds to them.
package import CoreMetrics
internal import TrackingCore

/// The metrics of one sink.
package struct SinkMetrics: Sendable {
    /// Hits that the sink has taken.
    private let deliveredHits: Counter
    /// Deliveries for which the sink was unavailable, so that they are tried again.
    private let retries: Counter
    /// Dead letters that were kept.
    private let deadLetters: Counter
    /// How long the sink took to answer for a batch that it had.
    private let deliveryDuration: Timer

    /// The metrics of one sink.
    package init(
        deliveredHits: Counter, retries: Counter, deadLetters: Counter, deliveryDuration: Timer
    ) {
        self.deliveredHits = deliveredHits
        self.retries = retries
        self.deadLetters = deadLetters
        self.deliveryDuration = deliveryDuration
    }

    /// Counts a batch that the sink has, but for the hits that it refused.
    func delivered(_ hits: HitBatch, rejected: Int, in duration: Duration) {
        let count = hits.payload.withUnsafeBytes { HitBlock.hitCount(in: $0) }
        self.deliveredHits.increment(by: max(0, count - rejected))
        self.deliveryDuration.recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }

    /// Counts a batch that has to be delivered again.
    func retried() { self.retries.increment() }

    /// Counts dead letters that were kept.
    func kept(_ count: Int) { self.deadLetters.increment(by: count) }
}
