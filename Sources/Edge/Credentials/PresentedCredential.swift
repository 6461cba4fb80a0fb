internal import GRPCCore

/// A credential in an RPC's metadata, not verified yet.
enum PresentedCredential: Sendable {
    case none
    case key(APIKey)
    case token(String)

    /// Reads `authorization: Bearer …` or `x-api-key`.
    ///
    /// - Throws: `CredentialRefusal.ambiguous` if there is more than one, because another reader
    ///   might pick a different one; `.malformed` if it is neither a key nor a bearer token.
    init(_ metadata: Metadata) throws(CredentialRefusal) {
        let authorizations = Array(metadata[stringValues: "authorization"].prefix(2))
        let keys = Array(metadata[stringValues: "x-api-key"].prefix(2))
        guard authorizations.count + keys.count <= 1 else { throw .ambiguous }
        if let text = keys.first {
            guard let key = APIKey(text) else { throw .malformed }
            self = .key(key)
        } else if let text = authorizations.first {
            self = try Self.bearer(text)
        } else {
            self = .none
        }
    }

    /// Parses `Bearer …` (RFC 6750 section 2.1); the scheme is case-insensitive.
    private static func bearer(_ text: String) throws(CredentialRefusal) -> PresentedCredential {
        let scheme = "bearer "
        guard text.utf8.count > scheme.utf8.count,
            text.prefix(scheme.count).lowercased() == scheme
        else { throw .malformed }
        let credential = text.dropFirst(scheme.count).drop { $0 == " " }
        guard credential.hasPrefix(APIKey.prefix) else { return .token(String(credential)) }
        guard let key = APIKey(String(credential)) else { throw .malformed }
        return .key(key)
    }
}
