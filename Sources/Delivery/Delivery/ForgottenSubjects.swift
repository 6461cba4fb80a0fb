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

    /// Whether a tenant's subject was forgotten; an empty id is nobody's.
    package func contains(_ id: Bytes, tenant: Bytes) -> Bool {
        if id.isEmpty || self.isEmpty { return false }
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
        try self.forEachEvent { event, request in
            guard !isConcerned else { return }
            isConcerned = forgotten.contains(event.subjectID, tenant: request.tenant)
        }
        guard isConcerned else { return self }
        var payload: [UInt8] = []
        payload.reserveCapacity(self.payload.count)
        var groups: [Group] = []
        try self.forEachGroup { group, bytes in
            let start = payload.count
            _ = try HitEncoding.append(
                to: &payload, from: bytes,
                masked: { forgotten.contains($0.subjectID, tenant: $1.tenant) })
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
    /// - Throws: `WireError` if a masked event's bytes are not fields.
    func withMask(_ forgotten: ForgottenSubjects, _ body: (Hit) -> Void) throws {
        guard forgotten.contains(self.subjectID, tenant: self.request.tenant) else {
            return body(self)
        }
        try self.entry.withoutSubject { event in
            body(Hit(entry: event, kind: self.kind, request: self.request))
        }
    }
}
