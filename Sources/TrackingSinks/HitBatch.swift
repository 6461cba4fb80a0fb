package import TrackingCore

/// The hits of one batch of the journal, as a sink receives them.
package struct HitBatch: Sendable {
    /// The journal's random id: sequences are comparable within one journal only.
    package let journal: String
    /// The batch's sequence: strictly increasing.
    package let sequence: Int64
    /// The hits in the journal's form.
    package let payload: [UInt8]

    /// Creates a batch.
    package init(journal: String, sequence: Int64, payload: [UInt8]) {
        self.journal = journal
        self.sequence = sequence
        self.payload = payload
    }

    /// Calls `body` with every hit and its position, from 0.
    ///
    /// - Throws: `DamagedPayload`, or errors of `body`.
    package func forEach(_ body: (Int, Hit) throws -> Void) throws {
        var position = 0
        try self.payload.withUnsafeBytes { payload in
            try HitBlock.forEachHit(in: payload) { hit in
                try body(position, hit)
                position += 1
            }
        }
    }

    /// Calls `body` with every event and with what its request's hits share.
    ///
    /// - Throws: `DamagedPayload`, or errors of `body`.
    package func forEachEvent(_ body: (JournalEvent, Hit.Origin) throws -> Void) throws {
        try self.payload.withUnsafeBytes { try HitBlock.forEachEvent(in: $0, body) }
    }
}
