package import TrackingCore

/// Discards every hit. Used to measure everything before the sink.
package struct DiscardSink: Sink {
    /// The sink's name, "discard".
    package let name = "discard"
    /// As much as the sqlite sink, so that the two can be compared.
    package let maxBatch = BatchLimit.standard

    /// Creates the sink.
    package init() {}

    /// Discards the batch and reports it as delivered.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer { .delivered }
}
