internal import JWTKit
internal import WireFormat

/// Verifies signed tokens (RFC 7519, with RFC 8725's rules): format, header, key, signature,
/// claims, in this order. No claim is read before the signature is verified.
struct TokenVerifier: Sendable {
    let keys: JWTKeySet
    let configuration: AuthConfiguration

    /// The principal of a token at a time in microseconds since 1970.
    func principal(of token: String, now: Int64) throws(CredentialRefusal) -> Principal {
        let bytes = Array(token.utf8)
        guard bytes.count <= self.configuration.tokenBytes else { throw .tooLong }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else { throw .malformed }
        let header = try JWTHeader(encoded: parts[0])
        guard self.configuration.jwtAlgorithms.contains(where: { $0.equals(header.algorithm) })
        else {
            throw .algorithm
        }
        let algorithm = try self.keys.algorithm(for: header)
        guard let signature = Base64URL.decode(parts[2]),
            Self.isValid(signature, of: bytes[..<parts[1].endIndex], algorithm)
        else { throw .signature }
        return try JWTClaims(encoded: parts[1]).principal(self.configuration, now: now)
    }

    private static func isValid(
        _ signature: [UInt8], of signed: ArraySlice<UInt8>, _ algorithm: any JWTAlgorithm
    ) -> Bool {
        do {
            return try algorithm.verify(signature, signs: signed)
        } catch {
            // For instance, the signature has a wrong length.
            return false
        }
    }
}
