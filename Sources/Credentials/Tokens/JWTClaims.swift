// What a token says, and the rules that it is held to (RFC 7519 section 4). Pure: the time comes
// from the caller.
internal import TrackingCore

/// The claims of a token whose signature is right.
struct JWTClaims: Sendable {
    private let members: [String: JSONValue]

    /// Claims of a token's second part.
    ///
    /// - Throws: `CredentialRefusal.claims` where they are no JSON object, name one twice, or nest
    ///   too deep.
    init(encoded: some Collection<UInt8>) throws(CredentialRefusal) {
        do {
            guard let bytes = Base64URL.decode(encoded),
                let members = try JSONValue(token: bytes).objectValue
            else { throw CredentialRefusal.claims }
            self.members = members
        } catch {
            throw .claims
        }
    }

    /// Who the token stands for.
    ///
    /// - Parameter now: microseconds since 1970.
    func principal(
        _ configuration: AuthConfiguration, now: Int64
    ) throws(CredentialRefusal) -> Principal {
        let leeway = Double(configuration.jwtLeeway / .seconds(1))
        let seconds = Double(now) / 1_000_000
        guard let expiry = try self.time("exp") else { throw .claims }
        guard seconds < expiry + leeway else { throw .expired }
        if let notBefore = try self.time("nbf"), seconds < notBefore - leeway {
            throw .notYetValid
        }
        guard self.members["iss"]?.stringValue == configuration.jwtIssuer else { throw .issuer }
        guard try self.list("aud").contains(configuration.jwtAudience) else { throw .audience }
        let name = self.members[configuration.jwtTenantClaim]?.stringValue
        guard let tenant = name.flatMap(Tenant.init) else { throw .tenant }
        let scope = configuration.requiredScope
        if !scope.isEmpty {
            guard try self.scopes().contains(scope) else { throw .scope }
        }
        let end = Int64(exactly: ((expiry + leeway) * 1_000_000).rounded()) ?? .max
        return Principal(tenant: tenant, proof: .token, expiry: end)
    }

    /// Seconds since 1970; nil where there is no such claim.
    private func time(_ name: String) throws(CredentialRefusal) -> Double? {
        switch self.members[name] {
        case nil: return nil
        case .integer(let seconds): return Double(seconds)
        case .number(let seconds): return seconds
        case .null, .bool, .string, .array, .object: throw .claims
        }
    }

    /// One string, or a list of them.
    private func list(_ name: String) throws(CredentialRefusal) -> [String] {
        switch self.members[name] {
        case nil: return []
        case .string(let text): return [text]
        case .array(let elements):
            let texts = elements.compactMap(\.stringValue)
            guard texts.count == elements.count else { throw .claims }
            return texts
        case .null, .bool, .integer, .number, .object: throw .claims
        }
    }

    /// What it allows: words in one string (RFC 8693), or a list as some issuers write it.
    private func scopes() throws(CredentialRefusal) -> [String] {
        try self.list("scope").flatMap { $0.split(separator: " ").map(String.init) }
    }
}
