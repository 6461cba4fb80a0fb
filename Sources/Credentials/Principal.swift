/// Who an RPC acts for, as its credentials prove.
package struct Principal: Sendable, Equatable {
    /// The kind of credential that proved it.
    package enum Proof: Sendable, Equatable {
        /// The server asks for no credentials.
        case none
        /// An API key, by its id.
        case key(id: String)
        /// A signed token.
        case token
        /// A client certificate.
        case certificate
    }

    /// The tenant.
    package let tenant: Tenant
    /// The kind of credential.
    package let proof: Proof
    /// When its streams must end, in microseconds since 1970; nil for no limit.
    package let expiry: Int64?

    /// The principal of every call to a server without credentials.
    package static let anybody = Principal(tenant: .standard, proof: .none, expiry: nil)

    /// Creates a principal.
    package init(tenant: Tenant, proof: Proof, expiry: Int64?) {
        self.tenant = tenant
        self.proof = proof
        self.expiry = expiry
    }
}
