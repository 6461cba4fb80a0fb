// A sealed group of requests, as the sinks' forwarders read it.

/// One group of the journal, with its payload.
package struct JournalBatch: Sendable {
    /// Its place in the journal: rising, never used twice.
    package let sequence: Int64
    /// Events in it; 0 where nothing tells how many were lost.
    package let eventCount: Int
    /// Hits in the journal's form (`HitBlock`); where the batch is damaged, what is left of them.
    package let payload: [UInt8]
    /// What is lost, where the payload is not what was written.
    package let loss: LostRecords?

    /// Whether the payload is not what was written, or cannot be read at all.
    package var isDamaged: Bool { self.loss != nil }

    /// A batch of known parts.
    package init(
        sequence: Int64, eventCount: Int, payload: [UInt8], loss: LostRecords? = nil
    ) {
        self.sequence = sequence
        self.eventCount = eventCount
        self.payload = payload
        self.loss = loss
    }
}

/// Records that should be there and cannot be read.
package struct LostRecords: Sendable, Equatable {
    /// Their sequences.
    package let sequences: ClosedRange<Int64>
    /// Events in them; nil where nothing tells.
    package let eventCount: Int?

    /// Records of these sequences.
    package init(sequences: ClosedRange<Int64>, eventCount: Int?) {
        self.sequences = sequences
        self.eventCount = eventCount
    }
}
