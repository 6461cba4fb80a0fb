internal import JSON
internal import WireFormat

/// The claims of a token whose signature was verified (RFC 7519 section 4).
struct JWTClaims: Sendable {
    private let members: JSONObject

    /// Parses a token's second part.
    ///
    /// - Throws: `CredentialRefusal.claims` if it is not a JSON object, repeats a name, or is
    ///   nested too deeply.
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

    /// Validates the claims; returns the principal.
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
        // By their bytes: RFC 7519 knows no other equality of names (7.3).
        guard self.members["iss"]?.stringValue?.equals(configuration.jwtIssuer) == true else {
            throw .issuer
        }
        guard try self.list("aud").contains(where: { $0.equals(configuration.jwtAudience) }) else {
            throw .audience
        }
        let name = self.members[configuration.jwtTenantClaim]?.stringValue
        guard let tenant = name.flatMap(Tenant.init) else { throw .tenant }
        let end = Int64(exactly: ((expiry + leeway) * 1_000_000).rounded()) ?? .max
        return Principal(tenant: tenant, proof: .token, expiry: end, scopes: self.scopes)
    }

    /// A claim in seconds since 1970; nil if absent.
    private func time(_ name: String) throws(CredentialRefusal) -> Double? {
        switch self.members[name] {
        case nil: return nil
        case .integer(let seconds): return Double(seconds)
        case .number(let seconds): return seconds
        case .null, .bool, .string, .array, .object: throw .claims
        }
    }

    /// A claim that is a string or a list of strings.
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

    /// The scopes: words in one string (RFC 8693), or a list, as some issuers write it. Nil if the
    /// claim is neither, which only matters to a call that needs one.
    private var scopes: [String]? {
        do {
            return try self.list("scope").flatMap { $0.split(separator: " ").map(String.init) }
        } catch {
            return nil
        }
    }
}
