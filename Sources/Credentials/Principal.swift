// Who an RPC comes from, as its credentials say.

/// The one that an RPC acts for.
package struct Principal: Sendable, Equatable {
    /// How it was proven.
    package enum Proof: Sendable, Equatable {
        /// The server asks for no credentials.
        case none
        /// An API key, with its id: never its secret.
        case key(id: String)
        /// A signed token.
        case token
        /// A client certificate.
        case certificate
    }

    /// Who sent it.
    package let tenant: Tenant
    /// How that was proven.
    package let proof: Proof
    /// When its streams have to end, in microseconds since 1970; nil where they need not.
    package let expiry: Int64?

    /// Anybody, where the server asks for no credentials.
    package static let anybody = Principal(tenant: .standard, proof: .none, expiry: nil)

    /// A principal that was proven.
    package init(tenant: Tenant, proof: Proof, expiry: Int64?) {
        self.tenant = tenant
        self.proof = proof
        self.expiry = expiry
    }
}
