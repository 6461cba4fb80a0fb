package import CoreMetrics
internal import SinkKit

/// The metrics of one sink's deliveries. The server names them; the forwarder records them.
package struct SinkMetrics: Sendable {
    /// Hits that the sink has stored.
    private let deliveredHits: Counter
    /// Deliveries that failed and are retried.
    private let retries: Counter
    /// Dead letters that were stored.
    private let deadLetters: Counter
    /// Hits that had gone from the journal before the sink had them.
    private let missedHits: Counter
    /// How long successful deliveries took.
    private let deliveryDuration: Timer
    /// How many hits they had.
    private let deliveryHits: Recorder

    /// Creates the metrics.
    package init(
        deliveredHits: Counter, retries: Counter, deadLetters: Counter, missedHits: Counter,
        deliveryDuration: Timer, deliveryHits: Recorder
    ) {
        self.missedHits = missedHits
        self.deliveredHits = deliveredHits
        self.retries = retries
        self.deadLetters = deadLetters
        self.deliveryDuration = deliveryDuration
        self.deliveryHits = deliveryHits
    }

    /// Records a delivered batch, except for its rejected hits.
    func delivered(_ hits: HitBatch, rejected: Int, in duration: Duration) {
        self.deliveredHits.increment(by: max(0, hits.hitCount - rejected))
        self.deliveryDuration.recordNanoseconds(Int64(duration / .nanoseconds(1)))
        self.deliveryHits.record(hits.hitCount)
    }

    /// Records a delivery that will be retried.
    func retried() { self.retries.increment() }

    /// Records hits that the sink never gets.
    func missed(_ count: Int) { self.missedHits.increment(by: count) }

    /// Records stored dead letters.
    func kept(_ count: Int) { self.deadLetters.increment(by: count) }
}
