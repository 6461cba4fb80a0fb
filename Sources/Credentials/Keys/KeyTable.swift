// The API keys of a server, as it looks them up: a value that a reload replaces.
internal import Foundation

/// Keys by their ids.
struct KeyTable: Sendable {
    private let entries: [String: Entry]

    private struct Entry: Sendable {
        let tenant: Tenant
        let digest: [UInt8]
        let isAllowed: Bool
        let isRevoked: Bool
        /// Microseconds since 1970.
        let expiry: Int64?
    }

    /// A table of the file's keys.
    init(_ records: [KeyRecord], requiredScope: String) {
        var entries: [String: Entry] = [:]
        for record in records {
            // The file was checked as it was read.
            guard let tenant = Tenant(record.tenant), let digest = record.digest else { continue }
            entries[record.id] = Entry(
                tenant: tenant, digest: digest,
                isAllowed: requiredScope.isEmpty || record.scopes.contains(requiredScope),
                isRevoked: record.revoked != nil, expiry: record.expires.map(Self.microseconds))
        }
        self.entries = entries
    }

    /// Whose key it is, at a time in microseconds since 1970.
    ///
    /// A key that is not known costs the same work as one whose secret is wrong: the time to an
    /// answer does not tell which ids there are.
    func principal(of key: APIKey, now: Int64) throws(CredentialRefusal) -> Principal {
        let entry = self.entries[key.id]
        let isRight = Self.areEqual(key.digest, entry?.digest ?? Self.noDigest)
        guard let entry else { throw .unknownKey }
        guard isRight else { throw .wrongSecret }
        guard !entry.isRevoked else { throw .revoked }
        if let expiry = entry.expiry, now >= expiry { throw .expired }
        guard entry.isAllowed else { throw .scope }
        return Principal(tenant: entry.tenant, proof: .key(id: key.id), expiry: entry.expiry)
    }

    private static let noDigest = [UInt8](repeating: 0, count: 32)

    /// Compares in a time that tells nothing of where two digests differ.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(into: UInt8(0)) { $0 |= $1.0 ^ $1.1 } == 0
    }

    /// Microseconds since 1970, the furthest that can be told where it is beyond.
    private static func microseconds(_ date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1_000_000).rounded()) ?? .max
    }
}
