internal import SinkKit
internal import TrackingRules
internal import WireFormat

/// A batch on its way: which of its hits are sent, and which are refused.
struct DeliveredBatch {
    private let hits: HitBatch
    /// The backend has everything up to it.
    private let durable: HitPosition?
    /// Reasons of refused hits by position in the batch.
    private(set) var rejected: [Int: String] = [:]

    /// - Parameter durable: leaves out the hits up to this position.
    init(_ hits: HitBatch, after durable: HitPosition?) {
        self.hits = hits
        self.durable = durable
    }

    /// Writes the hits of a group that the backend does not have.
    ///
    /// - Throws: `DamagedPayload`.
    mutating func append(_ group: HitBatch.Group, to writer: inout RecordBatchWriter) throws {
        let first = try self.firstIndex(in: group)
        var position = HitPosition(sequence: group.sequence, index: 0, check: 0)
        try self.forEachHit(in: group) { index, hit in
            position.index = index
            position.check = HitPosition.check(position.check, hit)
            // What cannot be sent is a dead letter, whether or not the rest was sent before.
            let reason =
                index < first ? writer.refusal(of: hit) : writer.append(hit, at: position)
            guard let reason else { return }
            self.rejected[group.positions.lowerBound + index] = reason
        }
        // The batch's memory is another one's after it.
        writer.endGroup()
    }

    /// Notes hits that the backend refused. Those of other batches are settled already.
    mutating func refuse(_ refused: [DeliverState.Refused]) {
        for hit in refused {
            guard let group = self.group(hit.sequence), hit.index < group.positions.count else {
                continue
            }
            self.rejected[group.positions.lowerBound + hit.index] = hit.reason
        }
    }

    /// The index of the first hit in a group that the backend does not have. If the group at its
    /// position is another one, all of it is sent: what it has of it comes again.
    private func firstIndex(in group: HitBatch.Group) throws -> Int {
        guard let durable, group.sequence <= durable.sequence else { return 0 }
        if group.sequence < durable.sequence { return group.positions.count }
        return try self.hits.has(durable) ? durable.index + 1 : 0
    }

    private func forEachHit(
        in group: HitBatch.Group, _ body: (Int, Hit) throws -> Void
    ) throws {
        try self.hits.payload.withUnsafeBytes { payload in
            var index = 0
            try HitEncoding.forEachHit(in: Bytes(rebasing: payload[group.bytes])) { hit in
                try body(index, hit)
                index += 1
            }
        }
    }

    /// The group with a sequence, found by halving.
    private func group(_ sequence: Int64) -> HitBatch.Group? {
        var (low, high) = (0, self.hits.groups.count)
        while low < high {
            let middle = (low + high) / 2
            if self.hits.groups[middle].sequence < sequence {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low < self.hits.groups.count, self.hits.groups[low].sequence == sequence else {
            return nil
        }
        return self.hits.groups[low]
    }
}
