package import TrackingRules
package import WireFormat

/// The hits of one delivery: one group of the journal, or several that follow each other.
///
/// How groups are joined differs from one delivery to the next, for instance after a restart. What
/// has to be the same each time refers to a group: a dead letter's key, and a sink's own cursor.
package struct HitBatch: Sendable {
    /// The journal's random id: sequences are comparable within one journal only.
    package let journal: String
    /// The sequence of the last group: strictly increasing.
    package let sequence: Int64
    /// The hits in the journal's form.
    package let payload: [UInt8]
    /// The number of events.
    package let eventCount: Int
    /// The groups, in order; at least one.
    package let groups: [Group]

    /// One of the journal's groups.
    package struct Group: Sendable, Equatable {
        /// Its sequence in the journal.
        package let sequence: Int64
        /// The positions of its hits in the batch.
        package let positions: Range<Int>
        /// Its part of the payload.
        package let bytes: Range<Int>

        /// Creates a group of a batch.
        package init(sequence: Int64, positions: Range<Int>, bytes: Range<Int>) {
            self.sequence = sequence
            self.positions = positions
            self.bytes = bytes
        }
    }

    /// Creates a batch of groups that are in the payload already.
    package init(
        journal: String, sequence: Int64, payload: [UInt8], eventCount: Int, groups: [Group]
    ) {
        self.journal = journal
        self.sequence = sequence
        self.payload = payload
        self.eventCount = eventCount
        self.groups = groups
    }

    /// Creates a batch of a single group.
    package init(journal: String, sequence: Int64, payload: [UInt8]) {
        var (events, hits) = (0, 0)
        payload.withUnsafeBytes { payload in
            // Delivery reports damage.
            try? HitEncoding.forEachEvent(in: payload) { event, _ in
                events += 1
                hits += event.kinds.rawValue.nonzeroBitCount
            }
        }
        self.init(
            journal: journal, sequence: sequence, payload: payload, eventCount: events,
            groups: [
                Group(sequence: sequence, positions: 0..<hits, bytes: 0..<payload.count)
            ])
    }

    /// The number of hits.
    package var hitCount: Int { self.groups.last?.positions.upperBound ?? 0 }

    /// Calls `body` with every hit and its position in the batch, from 0.
    ///
    /// - Parameter sequence: leaves out the groups up to this one, which the sink already has.
    /// - Throws: `DamagedPayload`, or errors of `body`.
    package func forEach(
        after sequence: Int64 = 0, _ body: (Int, Hit) throws -> Void
    ) throws {
        try self.forEachGroup { group, payload in
            guard group.sequence > sequence else { return }
            var position = group.positions.lowerBound
            try HitEncoding.forEachHit(in: payload) { hit in
                try body(position, hit)
                position += 1
            }
        }
    }

    /// Calls `body` with every event and with what its request's hits share.
    ///
    /// - Throws: `DamagedPayload`, or errors of `body`.
    package func forEachEvent(_ body: (JournalEvent, Hit.Request) throws -> Void) throws {
        try self.forEachGroup { try HitEncoding.forEachEvent(in: $1, body) }
    }

    /// Calls `body` with every group and its payload, which is valid until this returns.
    package func forEachGroup(_ body: (Group, Bytes) throws -> Void) rethrows {
        try self.payload.withUnsafeBytes { payload in
            for group in self.groups { try body(group, Bytes(rebasing: payload[group.bytes])) }
        }
    }
}
