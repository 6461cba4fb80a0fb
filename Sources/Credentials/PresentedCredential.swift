// What an RPC's metadata holds of credentials, before any of it is judged.
internal import GRPCCore

/// A credential as a client presents it.
enum PresentedCredential: Sendable {
    case none
    case key(APIKey)
    case token(String)

    /// Finds it in `authorization: Bearer …` or `x-api-key`.
    ///
    /// - Throws: `CredentialRefusal.ambiguous` where there is more than one, for each reader might
    ///   believe another one; `.malformed` where it is neither a key nor a bearer token.
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

    /// Reads `Bearer …` (RFC 6750 section 2.1; the scheme's case does not count).
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
