// A sealed group of requests, as the sinks' forwarders read it.

/// One row of the journal, with its payload.
package struct JournalBatch: Sendable {
    /// Its place in the journal: rising, never used twice.
    package let sequence: Int64
    /// Events in it.
    package let eventCount: Int
    /// Hits in the journal's form (`HitBlock`).
    package let payload: [UInt8]
    /// Whether the payload is not what was written: its CRC-32C differs.
    package let isDamaged: Bool

    /// A batch of known parts.
    package init(sequence: Int64, eventCount: Int, payload: [UInt8], isDamaged: Bool = false) {
        self.sequence = sequence
        self.eventCount = eventCount
        self.payload = payload
        self.isDamaged = isDamaged
    }
}
