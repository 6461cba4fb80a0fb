package import SinkKit
internal import Synchronization
package import TrackingRules
package import WireFormat

/// The subjects that were forgotten, as keyed hashes: what they have left in the journal, or send
/// again, is delivered without its subject.
package final class ForgottenSubjects: Sendable {
    private let hash: KeyedHash
    private let hashes: Mutex<Set<KeyedHash.Value>>
    private let count: Atomic<Int>

    /// Creates the set.
    ///
    /// - Parameter key: of the hashes.
    package init(key: [UInt8] = [], _ hashes: Set<KeyedHash.Value> = []) {
        self.hash = KeyedHash(key: key)
        self.hashes = Mutex(hashes)
        self.count = Atomic(hashes.count)
    }

    /// Whether nobody was forgotten: then no event has to be looked at.
    package var isEmpty: Bool { self.count.load(ordering: .acquiring) == 0 }

    /// The hashes of a subject's ids.
    package func hashes(of subject: Subject) -> [KeyedHash.Value] {
        subject.tenant.withBytes { tenant in
            subject.ids.map { id in id.withBytes { self.hash(tenant: tenant, subject: $0) } }
        }
    }

    /// Adds hashes.
    package func insert(_ hashes: [KeyedHash.Value]) {
        let count = self.hashes.withLock { known in
            known.formUnion(hashes)
            return known.count
        }
        self.count.store(count, ordering: .releasing)
    }

    /// Whether an event is of a subject that was forgotten.
    ///
    /// - Throws: `WireError` if the bytes are not a TrackingEvent.
    package func contains(subjectOf event: Bytes, tenant: Bytes) throws(WireError) -> Bool {
        if self.isEmpty { return false }
        let id = try EventView(event).subjectID
        if id.isEmpty { return false }
        let hash = self.hash(tenant: tenant, subject: id)
        return self.hashes.withLock { $0.contains(hash) }
    }
}

extension HitBatch {
    /// The batch without the subjects that were forgotten: the same hits at the same positions.
    ///
    /// - Throws: `DamagedPayload`, or `WireError`.
    func masked(by forgotten: ForgottenSubjects) throws -> HitBatch {
        if forgotten.isEmpty { return self }
        var isConcerned = false
        try self.forEachEvent { event, origin in
            guard !isConcerned else { return }
            isConcerned = try forgotten.contains(subjectOf: event.bytes, tenant: origin.tenant)
        }
        guard isConcerned else { return self }
        var payload: [UInt8] = []
        payload.reserveCapacity(self.payload.count)
        var groups: [Group] = []
        try self.forEachGroup { group, bytes in
            let start = payload.count
            _ = try HitBlock.append(
                to: &payload, from: bytes,
                replaced: { event, origin in
                    guard
                        try forgotten.contains(subjectOf: event.bytes, tenant: origin.tenant)
                    else { return nil }
                    return try EventView.bytes(of: event.bytes, subject: [])
                })
            groups.append(
                Group(
                    sequence: group.sequence, positions: group.positions,
                    bytes: start..<payload.count))
        }
        return HitBatch(
            journal: self.journal, sequence: self.sequence, payload: payload,
            eventCount: self.eventCount, groups: groups)
    }
}

extension Hit {
    /// Calls `body` with the hit, without its subject if that was forgotten.
    ///
    /// - Throws: `WireError` if its event cannot be parsed, or errors of `body`.
    func withMask(_ forgotten: ForgottenSubjects, _ body: (Hit) throws -> Void) throws {
        guard try forgotten.contains(subjectOf: self.event, tenant: self.origin.tenant) else {
            return try body(self)
        }
        try EventView.bytes(of: self.event, subject: []).withUnsafeBytes { event in
            try body(self.replacing(event: event))
        }
    }
}
