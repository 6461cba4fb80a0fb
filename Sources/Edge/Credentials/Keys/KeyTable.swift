internal import Foundation

/// The API keys, indexed by id. A value that a reload replaces.
struct KeyTable: Sendable {
    private let entries: [String: Entry]

    private struct Entry: Sendable {
        let tenant: Tenant
        let digest: [UInt8]
        let scopes: [String]
        let isRevoked: Bool
        /// Microseconds since 1970; nil for never.
        let expiry: Int64?
    }

    /// Creates a table from the file's records.
    init(_ records: [KeyRecord]) {
        var entries: [String: Entry] = [:]
        for record in records {
            // Reading the file has validated the records.
            guard let tenant = Tenant(record.tenant), let digest = record.digest else { continue }
            entries[record.id] = Entry(
                tenant: tenant, digest: digest, scopes: record.scopes,
                isRevoked: record.revoked != nil, expiry: record.expires.map(Self.microseconds))
        }
        self.entries = entries
    }

    /// The principal of a key at a time in microseconds since 1970.
    ///
    /// An unknown id takes the same work as a wrong secret, so that the response time does not
    /// reveal which ids exist.
    func principal(of key: APIKey, now: Int64) throws(CredentialRefusal) -> Principal {
        let entry = self.entries[key.id]
        let isRight = Self.areEqual(key.digest, entry?.digest ?? Self.noDigest)
        guard let entry else { throw .unknownKey }
        guard isRight else { throw .wrongSecret }
        guard !entry.isRevoked else { throw .revoked }
        if let expiry = entry.expiry, now >= expiry { throw .expired }
        return Principal(
            tenant: entry.tenant, proof: .key(id: key.id), expiry: entry.expiry,
            scopes: entry.scopes)
    }

    private static let noDigest = [UInt8](repeating: 0, count: 32)

    /// Compares in constant time.
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(into: UInt8(0)) { $0 |= $1.0 ^ $1.1 } == 0
    }

    /// Microseconds since 1970, limited to Int64.
    private static func microseconds(_ date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1_000_000).rounded()) ?? .max
    }
}
