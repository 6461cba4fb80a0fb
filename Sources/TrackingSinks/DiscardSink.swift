package import TrackingCore

/// Discards every hit. Used to measure everything before the sink.
package struct DiscardSink: Sink {
    /// The sink's name, "discard".
    package let name = "discard"
    /// As few deliveries as joining can save, of no more bytes than a core's cache holds: joining
    /// copies them.
    package let maxBatch = BatchLimit(hits: 50_000, bytes: 512 << 10)

    /// Creates the sink.
    package init() {}

    /// Discards the batch and reports it as delivered.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer { .delivered }
}
