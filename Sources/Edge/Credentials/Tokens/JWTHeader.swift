internal import JSON

/// The header of a signed token (RFC 7515 section 4). It is parsed first, because it determines the
/// key and the algorithm; nothing that it refers to is fetched.
package struct JWTHeader: Sendable, Equatable {
    /// The maximum bytes of the encoded header.
    package static let maxBytes = 4096
    /// The maximum bytes of a key id.
    package static let maxKeyIDBytes = 256

    /// The claimed algorithm.
    package let algorithm: String
    /// The claimed key id; nil if absent.
    package let keyID: String?

    /// Members that ask to trust keys from the token, to decode it in another way, or to understand
    /// extensions. None of these is supported, so such a token is refused.
    private static let refused = [
        "jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "enc", "cty",
    ]

    /// Parses the part of a token before its first dot.
    ///
    /// - Throws: `CredentialRefusal.tooLong` or `.header`.
    package init(encoded: some Collection<UInt8>) throws(CredentialRefusal) {
        guard encoded.count <= Self.maxBytes else { throw .tooLong }
        guard let bytes = Base64URL.decode(encoded) else { throw .header }
        let members: JSONObject?
        do {
            members = try JSONValue(token: bytes).objectValue
        } catch {
            throw .header
        }
        guard let members, let algorithm = members["alg"]?.stringValue,
            !Self.refused.contains(where: { members[$0] != nil })
        else { throw .header }
        self.algorithm = algorithm
        guard let keyID = members["kid"] else {
            self.keyID = nil
            return
        }
        guard let text = keyID.stringValue, text.utf8.count <= Self.maxKeyIDBytes else {
            throw .header
        }
        self.keyID = text
    }
}
