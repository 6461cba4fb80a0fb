package import SinkKit
package import TrackingJournal

extension HitBatch {
    /// Joins consecutive groups of the journal, of which none is damaged. The payload of a single
    /// one is not copied.
    package init(journal: String, joining batches: [JournalBatch]) {
        var groups: [Group] = []
        groups.reserveCapacity(batches.count)
        var (hits, bytes) = (0, 0)
        for batch in batches {
            let (hitsEnd, bytesEnd) = (hits + batch.hitCount, bytes + batch.payload.count)
            groups.append(
                Group(
                    sequence: batch.sequence, positions: hits..<hitsEnd, bytes: bytes..<bytesEnd))
            (hits, bytes) = (hitsEnd, bytesEnd)
        }
        self.init(
            journal: journal, sequence: batches.last?.sequence ?? 0,
            payload: Self.payload(of: batches),
            eventCount: batches.reduce(0) { $0 + $1.eventCount }, groups: groups)
    }

    private static func payload(of batches: [JournalBatch]) -> [UInt8] {
        if batches.count == 1 { return batches[0].payload }
        var payload: [UInt8] = []
        payload.reserveCapacity(batches.reduce(0) { $0 + $1.payload.count })
        for batch in batches { payload += batch.payload }
        return payload
    }
}
