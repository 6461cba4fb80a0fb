/// Discards every hit. Used to measure everything before the sink.
package struct DiscardSink: Sink {
    /// The sink's name, "discard".
    package let name = "discard"

    /// Creates the sink.
    package init() {}

    /// Discards the batch and reports it as delivered.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer { .delivered }
}
