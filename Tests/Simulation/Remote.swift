// The backend of a sink, which outlives the process.
internal import SinkKit
internal import TrackingRules

/// The backend's contents, across processes.
final class Remote: @unchecked Sendable {
    /// How often each hit was stored, by the forwarder or a replay.
    private(set) var hits: [HitID: Int] = [:]
    /// How often each hit was stored for the forwarder.
    private(set) var forwarded: [HitID: Int] = [:]
    /// The group of each hit that it was given, also of those that it rejects.
    private(set) var sequences: [HitID: Int64] = [:]
    /// The newest batch of each journal.
    private var cursors: [String: Int64] = [:]
    /// What it has rejected and still lacks: it says so again when it is given the group again.
    private var refused: Set<HitID> = []
    /// The first violation of how a sink is called.
    var disorder: String?
    /// Whether the backend is available.
    var isUp = true
    /// Whether an operator has mended why it rejects hits.
    var isMended = false
    /// Whether everything was once deleted.
    private(set) var wasCleared = false
    /// Called with each batch and the answer to it.
    var onTrace: ((String) -> Void)?

    /// What it did with a batch.
    struct Outcome {
        /// The hits that it stored.
        var taken: [HitID] = []
        /// The positions of rejected hits, also of those that it was given before.
        var refused: [Int: HitID] = [:]
    }

    /// Stores a batch, like a database that stores its place in the same transaction: what it has
    /// of the batch it leaves out.
    ///
    /// - Parameters:
    ///   - isReplay: whether a replay delivers it.
    ///   - refuses: whether it rejects a hit now.
    func take(
        _ batch: HitBatch, isReplay: Bool, refuses: (HitID) -> Bool
    ) throws -> Outcome {
        let known = self.cursors[batch.journal] ?? 0
        var new: [(position: Int, hit: HitID)] = []
        if batch.sequence > known {
            try batch.forEach(after: known) { new.append(($0, HitID($1.id))) }
            self.cursors[batch.journal] = batch.sequence
        }
        var outcome = Outcome()
        let firstNew = new.first?.position ?? .max
        try batch.forEach { position, hit in
            let hit = HitID(hit.id)
            if position < firstNew, self.refused.contains(hit) { outcome.refused[position] = hit }
        }
        for (position, hit) in new {
            if refuses(hit) {
                outcome.refused[position] = hit
                if !isReplay { self.refused.insert(hit) }
            } else {
                outcome.taken.append(hit)
                self.hits[hit, default: 0] += 1
                if !isReplay { self.forwarded[hit, default: 0] += 1 }
                self.refused.remove(hit)
            }
        }
        return outcome
    }

    /// Notes the groups of a batch's hits.
    func note(_ batch: HitBatch) throws {
        try batch.forEach { position, hit in
            let group = batch.groups.first { $0.positions.contains(position) }
            self.sequences[HitID(hit.id)] = group?.sequence
        }
    }

    /// Deletes everything, as if an operator had replaced the backend.
    func clear() {
        (self.hits, self.forwarded, self.cursors, self.refused) = ([:], [:], [:], [])
        self.wasCleared = true
    }
}

/// The 16 bytes of a hit's id.
struct HitID: Hashable, Comparable, CustomStringConvertible {
    let bytes: [UInt8]
    init(_ bytes: [UInt8]) { self.bytes = bytes }
    var description: String { self.bytes.prefix(6).map { String($0, radix: 16) }.joined() }
    static func < (left: Self, right: Self) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
