#if PostgreSQL
// How far the database has a journal.
internal import SinkKit
internal import TrackingRules

/// A row of the table `cursor`.
struct HitCursor: Equatable {
    /// The sequence of the last group that is stored.
    let sequence: Int64
    /// The id of that group's last hit, as PostgreSQL writes a UUID. Nil if the group has none, or
    /// if a hit was refused: the group has to be written again then, to find out which.
    let hitID: String?

    /// Groups up to this sequence need not be written again. 0 if the cursor names no hit of the
    /// batch: the journal may be an older copy of what it was, with other hits under the same
    /// sequences, and the hits' ids alone tell what is stored.
    func known(in hits: HitBatch) throws -> Int64 {
        guard let hitID, let group = hits.groups.first(where: { $0.sequence == self.sequence })
        else { return 0 }
        return try HitCursor.hitID(ofLastHitIn: group, of: hits) == hitID ? self.sequence : 0
    }

    /// The id of a group's last hit; nil if it has none.
    static func hitID(
        ofLastHitIn group: HitBatch.Group, of hits: HitBatch
    ) throws -> String? {
        var found: String?
        try hits.forEach(after: group.sequence - 1) { position, hit in
            if position == group.positions.upperBound - 1 { found = Self.text(hit) }
        }
        return group.positions.isEmpty ? nil : found
    }

    private static func text(_ hit: Hit) -> String {
        let digits = hit.id.map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }
        let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
        return groups.map { digits[$0].joined() }.joined(separator: "-")
    }
}
#endif
