// A sink whose backend outlives the process. It may be slow, unavailable, or answer too late.
internal import Synchronization
internal import TrackingCore
internal import TrackingSinks

/// The backend's contents, across processes.
final class Remote: @unchecked Sendable {
    /// How often each hit was delivered.
    private(set) var hits: [HitID: Int] = [:]
    /// The group of each hit that it was given, also of those that it rejects.
    private(set) var sequences: [HitID: Int64] = [:]
    /// The newest batch of each journal.
    private var cursors: [String: Int64] = [:]
    /// The first violation of the order of batches.
    private(set) var disorder: String?
    /// Whether the backend is available.
    var isUp = true
    /// Called with each batch and the answer to it.
    var onTrace: ((String) -> Void)?

    /// Stores a batch, like a database that stores its place in the same transaction: what it has
    /// of the batch it leaves out.
    ///
    /// - Parameter refuses: whether it rejects a hit, the same each time.
    /// - Returns: the positions of rejected hits, also of those that it was given before.
    func take(_ batch: HitBatch, refuses: (HitID) -> Bool) throws -> [Int: String] {
        var refused: [Int: String] = [:]
        try batch.forEach { position, hit in
            if refuses(HitID(hit.id)) { refused[position] = "it does not like it" }
        }
        let known = self.cursors[batch.journal] ?? 0
        guard batch.sequence > known else { return refused }
        self.cursors[batch.journal] = batch.sequence
        try batch.forEach(after: known) { position, hit in
            if refused[position] == nil { self.hits[HitID(hit.id), default: 0] += 1 }
        }
        return refused
    }

    /// Notes the groups of a batch's hits.
    func note(_ batch: HitBatch) throws {
        try batch.forEach { position, hit in
            let group = batch.groups.first { $0.positions.contains(position) }
            self.sequences[HitID(hit.id)] = group?.sequence
        }
    }

    /// Deletes everything, as if an operator had replaced the backend.
    func clear() { (self.hits, self.cursors) = ([:], [:]) }
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

/// The process's side of the sink.
struct RemoteSink: Sink {
    let name: String
    let remote: Remote
    let dice: Dice
    let clock: SimulatedClock
    /// Whether it rejects some hits, and cannot read some groups.
    let isChoosy: Bool
    let isCalm: @Sendable () -> Bool

    /// Another one each time: after a restart, groups are joined differently.
    var maxBatch: BatchLimit {
        BatchLimit(
            hits: self.dice.pick([0, 5, 20, 1000]), bytes: self.dice.pick([0, 500, 2000, 100_000]))
    }

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
        let answer = await self.answer(hits)
        self.remote.onTrace?("\(self.name) is given \(hits.groups.map(\.sequence)): \(answer)")
        return answer
    }

    private func answer(_ hits: HitBatch) async -> SinkAnswer {
        if self.isCalm() { return self.take(hits) }
        if !self.remote.isUp || self.dice.chance(0.1) {
            return .unavailable(reason: "it is away")
        }
        if self.dice.chance(0.3) {
            // Stopping does not undo what was sent.
            try? await self.clock.sleep(for: .milliseconds(self.dice.number(1...200)))
        }
        let delivery = self.take(hits)
        // The batch was stored, but the answer is lost.
        return self.dice.chance(0.05) ? .unavailable(reason: "no answer") : delivery
    }

    private func take(_ hits: HitBatch) -> SinkAnswer {
        // A batch that cannot be read fails again below.
        try? self.remote.note(hits)
        if self.isChoosy, hits.groups.contains(where: { $0.sequence % 7 == 3 }) {
            return .undeliverable(reason: "it cannot read a group")
        }
        do {
            let refused = try self.remote.take(hits) { self.isChoosy && ($0.bytes[0] & 7) == 0 }
            return SinkAnswer(rejected: refused)
        } catch {
            return .undeliverable(reason: "\(error)")
        }
    }
}
