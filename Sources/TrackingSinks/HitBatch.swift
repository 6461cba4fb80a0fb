// What a sink is given: one batch of the journal.
package import TrackingCore

/// Hits in order, with their place in the journal.
package struct HitBatch: Sendable {
    /// The journal's random name: sequences are only comparable within it.
    package let journal: String
    /// The batch's sequence: rising from batch to batch.
    package let sequence: Int64
    /// The hits in the journal's form.
    package let payload: [UInt8]

    /// A batch of a journal's payload.
    package init(journal: String, sequence: Int64, payload: [UInt8]) {
        self.journal = journal
        self.sequence = sequence
        self.payload = payload
    }

    /// Calls `body` with every hit and its position, from 0.
    ///
    /// - Throws: `DamagedPayload`, or what `body` throws.
    package func forEach(_ body: (Int, Hit) throws -> Void) throws {
        var position = 0
        try self.payload.withUnsafeBytes { payload in
            try HitBlock.forEachHit(in: payload) { hit in
                try body(position, hit)
                position += 1
            }
        }
    }

    /// Calls `body` with every event, and with what its request's events have in common.
    ///
    /// - Throws: `DamagedPayload`, or what `body` throws.
    package func forEachEvent(_ body: (JournalEvent, Hit.Origin) throws -> Void) throws {
        try self.payload.withUnsafeBytes { try HitBlock.forEachEvent(in: $0, body) }
    }
}
