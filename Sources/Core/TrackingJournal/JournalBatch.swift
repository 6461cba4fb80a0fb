// A committed group of requests, as the sinks' forwarders read it.
internal import TrackingRules

/// One group of the journal, with its payload.
package struct JournalBatch: Sendable {
    /// The batch's position in the journal: strictly increasing, never reused.
    package let sequence: Int64
    /// The number of its events; 0 if it is unknown, as the batch is damaged.
    package let eventCount: Int
    /// The number of its hits; 0 if the batch is damaged.
    package let hitCount: Int
    /// Its hits in the journal's form (`HitEncoding`); of a damaged batch, the bytes that are left.
    package let payload: [UInt8]
    /// What is lost, if the batch is damaged.
    package let loss: LostRecords?

    /// Whether it represents lost hits: their payload could not be read as it was written, or was
    /// released.
    package var isDamaged: Bool { self.loss != nil }

    /// Creates a batch.
    package init(
        sequence: Int64, eventCount: Int, hitCount: Int = 0, payload: [UInt8],
        loss: LostRecords? = nil
    ) {
        self.sequence = sequence
        self.eventCount = eventCount
        self.hitCount = hitCount
        self.payload = payload
        self.loss = loss
    }
}

extension JournalBatch {
    /// An intact group that was read from disk.
    init(_ row: StoredRow, payload: [UInt8]) {
        self.init(
            sequence: row.sequence, eventCount: Int(row.eventCount),
            hitCount: payload.withUnsafeBytes { HitEncoding.hitCount(in: $0) }, payload: payload)
    }
}

extension JournalBatch {
    /// A damaged batch in place of groups that were released before a sink had them.
    init(_ gap: SinkGap, after sequence: Int64) {
        self.init(
            sequence: gap.through, eventCount: gap.events, payload: [],
            loss: LostRecords(
                sequences: min(sequence + 1, gap.through)...gap.through, eventCount: gap.events,
                hitCount: gap.hits, cause: .release))
    }
}

/// Records that are missing or unreadable, or that were released before a sink had them.
package struct LostRecords: Sendable, Equatable {
    /// The sequences of the records.
    package let sequences: ClosedRange<Int64>
    /// The number of their events; nil if unknown.
    package let eventCount: Int?
    /// The number of their hits; nil if unknown.
    package let hitCount: Int?
    /// Why they are lost.
    package let cause: Cause

    /// Why records are lost.
    package enum Cause: Sendable {
        /// The disk did not return what was written.
        case damage
        /// The journal released them before the sink had them: it is not required and was further
        /// behind than `max_lag_bytes`, or it was not in the list of sinks.
        case release
    }

    /// Describes the loss of `sequences`.
    package init(
        sequences: ClosedRange<Int64>, eventCount: Int?, hitCount: Int? = nil,
        cause: Cause = .damage
    ) {
        self.sequences = sequences
        self.eventCount = eventCount
        self.hitCount = hitCount
        self.cause = cause
    }
}
