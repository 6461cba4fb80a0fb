/// The settings `auth.*`: which credentials are accepted, and the files to verify them with.
package struct AuthConfiguration: Sendable {
    /// A kind of credential.
    package enum Mode: String, Sendable, CaseIterable {
        case keys
        case jwt
        case mtls
    }

    /// The accepted kinds; empty accepts every call, as the tenant "default".
    package var modes: Set<Mode> = []
    /// The path of the file with API keys.
    package var keysFile = ""
    /// The path of the JWKS file with the keys that sign tokens (RFC 7517).
    package var jwksFile = ""
    /// The audience that a token's `aud` must include.
    package var jwtAudience = ""
    /// The value that a token's `iss` must have.
    package var jwtIssuer = ""
    /// The name of the claim with the tenant.
    package var jwtTenantClaim = "tenant"
    /// The accepted signature algorithms of tokens.
    package var jwtAlgorithms = Self.standardAlgorithms
    /// The tolerated difference between the issuer's clock and the server's.
    package var jwtLeeway = Duration.seconds(30)
    /// The scope that keys and tokens need; empty for none.
    package var requiredScope = ""
    /// The maximum bytes of a token.
    package var tokenBytes = 16 << 10
    /// The path of the file that maps names in certificates to tenants.
    package var mtlsTenantsFile = ""
    /// Whether server reflection works without credentials.
    package var openReflection = false

    /// The asymmetric algorithms. HS256 and its kin cannot be configured: whoever can verify such a
    /// token can also forge it.
    package static let standardAlgorithms = [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
    ]

    /// Creates settings that require no credentials.
    package init() {}

    /// The valid values of `auth.mode`.
    package static let modeChoices = [
        "none", "keys", "jwt", "mtls", "keys,jwt", "keys,mtls", "jwt,mtls", "keys,jwt,mtls",
    ]
}
