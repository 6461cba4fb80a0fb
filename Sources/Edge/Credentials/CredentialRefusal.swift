/// Why credentials were refused. The text is for logs and contains nothing that the client sent;
/// the client's answer says even less.
package enum CredentialRefusal: String, Error, Sendable {
    case missing = "no credentials"
    case ambiguous = "more than one credential"
    case malformed = "not a key or token of any accepted form"
    case tooLong = "longer than 16 KiB"
    case unknownKey = "no such API key"
    case wrongSecret = "the API key's secret is wrong"
    case revoked = "the API key is revoked"
    case header = "the token's header is not accepted"
    case algorithm = "the token's algorithm is not accepted"
    case unknownSigner = "the token's kid names no key"
    case signature = "the token's signature is wrong"
    case claims = "the token's claims are not accepted"
    case expired = "expired"
    case notYetValid = "not valid yet"
    case audience = "the token is for another audience"
    case issuer = "the token is of another issuer"
    case tenant = "no tenant in the token"
    case certificate = "the certificate's names belong to no tenant"
    case scope = "auth.required_scope is missing"
}
