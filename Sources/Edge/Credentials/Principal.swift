internal import WireFormat

/// Who an RPC acts for, as its credentials prove.
package struct Principal: Sendable, Equatable {
    /// The kind of credential that proved it.
    package enum Proof: Sendable, Equatable {
        /// The server requires no credentials.
        case none
        /// An API key, by its id.
        case key(id: String)
        /// A signed token.
        case token
        /// A client certificate.
        case certificate
        /// None: the configuration names the tenant of a host, whose requests have no credentials.
        case host
    }

    /// The tenant.
    package let tenant: Tenant
    /// The kind of credential.
    package let proof: Proof
    /// When its streams must end, in microseconds since 1970; nil for no limit.
    package let expiry: Int64?
    /// The scopes that the credential grants; nil if a token's claim of them cannot be read.
    package let scopes: [String]?

    /// The principal of every call to a server that requires no credentials.
    package static let anybody = Principal(tenant: .standard, proof: .none, expiry: nil)

    /// Creates a principal.
    package init(tenant: Tenant, proof: Proof, expiry: Int64?, scopes: [String]? = []) {
        self.tenant = tenant
        self.proof = proof
        self.expiry = expiry
        self.scopes = scopes
    }

    /// The principal of whatever comes to a host that is a tenant's.
    package static func host(of tenant: Tenant) -> Principal {
        Principal(tenant: tenant, proof: .host, expiry: nil)
    }

    /// Whether the credential grants a scope.
    package func has(_ scope: Scope) -> Bool {
        self.scopes?.contains { $0.equals(scope.rawValue) } ?? false
    }

    /// Refuses a key or a token without a scope. Certificates have no scopes and pass.
    ///
    /// - Throws: `CredentialRefusal.scope`, or `.claims` if the token's scopes cannot be read.
    func check(_ requiredScope: String) throws(CredentialRefusal) {
        guard !requiredScope.isEmpty, self.proof != .certificate else { return }
        guard let scopes = self.scopes else { throw .claims }
        guard scopes.contains(where: { $0.equals(requiredScope) }) else { throw .scope }
    }
}
