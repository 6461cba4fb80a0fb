package import SinkKit
package import TrackingRules

/// Discards every hit. Used to measure everything before the sink.
package struct DiscardSink: ErasableSink, ProbeableSink {
    /// The sink's name, "discard".
    package let name = "discard"
    /// Joining saves deliveries but copies the groups. 512 KiB stay in a core's cache.
    package let maxBatch = BatchLimit(hits: 50_000, bytes: 512 << 10)

    /// Creates the sink.
    package init() {}

    /// Discards the batch and reports it as delivered.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer { .delivered }

    /// There is nothing to connect to.
    package var probedHosts: [HostProbe] { [] }

    /// There is nothing to write.
    package func probe(_ hit: HitBatch) async -> [ProbeStep] {
        [.worked("write", "discard takes every hit, and keeps none")]
    }

    /// There is nothing to erase.
    package func erase(_ subject: Subject) async -> ErasurePiece { .last(.erased(0)) }
}
