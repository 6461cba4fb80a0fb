internal import TrackingRules
internal import WireFormat

extension HitBatch {
    /// The batch with the hits that pass a filter alone. It has the same groups, some of which may
    /// be empty.
    ///
    /// - Throws: `DamagedPayload`.
    package func filtered(by filter: HitFilter) throws -> HitBatch {
        var payload: [UInt8] = []
        payload.reserveCapacity(self.payload.count)
        var groups: [Group] = []
        groups.reserveCapacity(self.groups.count)
        var (events, hits) = (0, 0)
        try self.forEachGroup { group, bytes in
            let (firstHit, start) = (hits, payload.count)
            let passed = try HitEncoding.append(
                to: &payload, from: bytes, wanted: { filter.kinds(of: $0, $1) })
            events += passed.events
            hits += passed.hits
            groups.append(
                Group(
                    sequence: group.sequence, positions: firstHit..<hits,
                    bytes: start..<payload.count))
        }
        return HitBatch(
            journal: self.journal, sequence: self.sequence, payload: payload, eventCount: events,
            groups: groups)
    }

    /// Where the hits that pass a filter are in this batch, in order: the first of them is the
    /// first of the filtered batch.
    ///
    /// - Throws: `DamagedPayload`.
    package func positions(passing filter: HitFilter) throws -> [Int] {
        var positions: [Int] = []
        var position = 0
        try self.forEachEvent { event, request in
            let wanted = filter.kinds(of: event, request)
            for kind in event.kinds.kinds {
                if wanted.contains(HitKinds(kind)) { positions.append(position) }
                position += 1
            }
        }
        return positions
    }
}
