// Who an RPC comes from, as its credentials say.

/// The one that an RPC acts for.
struct Principal: Sendable, Equatable {
    /// How it was proven.
    enum Proof: Sendable, Equatable {
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
    let tenant: Tenant
    /// How that was proven.
    let proof: Proof
    /// When its streams have to end, in microseconds since 1970; nil where they need not.
    let expiry: Int64?

    /// Anybody, where the server asks for no credentials.
    static let anybody = Principal(tenant: .standard, proof: .none, expiry: nil)

    /// A principal that was proven.
    init(tenant: Tenant, proof: Proof, expiry: Int64?) {
        self.tenant = tenant
        self.proof = proof
        self.expiry = expiry
    }
}
