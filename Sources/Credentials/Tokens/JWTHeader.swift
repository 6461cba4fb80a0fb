// The first part of a token, read before anything else is done with it: it decides which key and
// algorithm may be used at all. Pure over its bytes, bounded, and never fetches what it names.
internal import TrackingCore

/// The header of a signed token (RFC 7515 section 4).
package struct JWTHeader: Sendable, Equatable {
    /// Bytes of the encoded header.
    package static let maxBytes = 4096
    /// Bytes of a key's name.
    package static let maxKeyIDBytes = 256

    /// The algorithm that it claims.
    package let algorithm: String
    /// The name of the key that it claims, if it names one.
    package let keyID: String?

    /// Members that tell the reader to trust what the token itself brings or names, to read the
    /// token in another way, or to understand extensions: none of that is done here.
    private static let refused = [
        "jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "enc", "cty",
    ]

    /// Reads the part of a token before its first dot.
    ///
    /// - Throws: `CredentialRefusal.tooLong` or `.header`.
    package init(encoded: some Collection<UInt8>) throws(CredentialRefusal) {
        guard encoded.count <= Self.maxBytes else { throw .tooLong }
        guard let bytes = Base64URL.decode(encoded) else { throw .header }
        let members: [String: JSONValue]?
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
