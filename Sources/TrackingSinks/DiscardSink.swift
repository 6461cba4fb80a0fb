// The sink for measuring everything before it.

/// Takes every hit and keeps none.
package struct DiscardSink: Sink {
    /// "discard".
    package let name = "discard"

    /// A sink that keeps nothing.
    package init() {}

    /// Drops the batch.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer { .delivered }
}
