// A sealed group of requests, as the sinks' forwarders read it.

/// One group of the journal, with its payload.
package struct JournalBatch: Sendable {
    /// The batch's position in the journal: strictly increasing, never reused.
    package let sequence: Int64
    /// The number of its events; 0 if that is lost with them.
    package let eventCount: Int
    /// Its hits in the journal's form (`HitBlock`); of a damaged batch, what is left.
    package let payload: [UInt8]
    /// What is lost, if the batch is damaged.
    package let loss: LostRecords?

    /// Whether the payload could not be read as it was written.
    package var isDamaged: Bool { self.loss != nil }

    /// Creates a batch.
    package init(
        sequence: Int64, eventCount: Int, payload: [UInt8], loss: LostRecords? = nil
    ) {
        self.sequence = sequence
        self.eventCount = eventCount
        self.payload = payload
        self.loss = loss
    }
}

/// Records that are missing or unreadable.
package struct LostRecords: Sendable, Equatable {
    /// The sequences of the records.
    package let sequences: ClosedRange<Int64>
    /// The number of their events; nil if unknown.
    package let eventCount: Int?

    /// Describes the loss of `sequences`.
    package init(sequences: ClosedRange<Int64>, eventCount: Int?) {
        self.sequences = sequences
        self.eventCount = eventCount
    }
}
