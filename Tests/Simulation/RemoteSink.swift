// A sink whose backend outlives the process. It may be slow, unavailable, or answer too late.
internal import Synchronization
internal import TrackingSinks
internal import TrackingCore

/// The backend's contents, across processes.
final class Remote: @unchecked Sendable {
    /// How often each hit was delivered.
    private(set) var hits: [HitID: Int] = [:]
    /// The newest batch of each journal.
    private var cursors: [String: Int64] = [:]
    /// The first violation of the order of batches.
    private(set) var disorder: String?
    /// Whether the backend is available.
    var isUp = true

    /// Stores a batch, like a database that stores its place in the same transaction.
    func take(_ batch: HitBatch) throws {
        var ids: [HitID] = []
        try batch.forEach { _, hit in ids.append(HitID(hit.id)) }
        guard batch.sequence > self.cursors[batch.journal] ?? 0 else { return }
        self.cursors[batch.journal] = batch.sequence
        for id in ids { self.hits[id, default: 0] += 1 }
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
    let name = "remote"
    let remote: Remote
    let dice: Dice
    let clock: SimulatedClock
    let isCalm: @Sendable () -> Bool

    func deliver(_ hits: HitBatch) async -> SinkAnswer {
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
        do {
            try self.remote.take(hits)
            return .delivered
        } catch {
            return .undeliverable(reason: "\(error)")
        }
    }
}
