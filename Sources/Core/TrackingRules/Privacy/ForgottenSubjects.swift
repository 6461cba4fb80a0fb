internal import Synchronization
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

    /// The hashes of a tenant's ids.
    package func hashes(of ids: [String], tenant: String) -> [KeyedHash.Value] {
        tenant.withBytes { tenant in
            ids.map { id in id.withBytes { self.hash(tenant: tenant, subject: $0) } }
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
