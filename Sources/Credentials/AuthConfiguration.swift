// Which credentials the server takes, and by which files it judges them.

/// The keys `auth.*`.
package struct AuthConfiguration: Sendable {
    /// A kind of credential.
    package enum Mode: String, Sendable, CaseIterable {
        case keys
        case jwt
        case mtls
    }

    /// The kinds that are taken; none of them: everybody may send, as the tenant "default".
    package var modes: Set<Mode> = []
    /// Path of the API keys.
    package var keysFile = ""
    /// Path of the keys that sign tokens (RFC 7517).
    package var jwksFile = ""
    /// What a token's `aud` has to name.
    package var jwtAudience = ""
    /// What a token's `iss` has to be.
    package var jwtIssuer = ""
    /// The claim that holds the tenant.
    package var jwtTenantClaim = "tenant"
    /// Algorithms that tokens may be signed with.
    package var jwtAlgorithms = Self.standardAlgorithms
    /// How far the clocks of issuer and server may be apart.
    package var jwtLeeway = Duration.seconds(30)
    /// The scope that keys and tokens need; empty where none is needed.
    package var requiredScope = ""
    /// Bytes of a token.
    package var tokenBytes = 16 << 10
    /// Path of the map from a certificate's names to tenants.
    package var mtlsTenantsFile = ""
    /// Whether server reflection answers without credentials too.
    package var openReflection = false

    /// Those with which only the issuer can sign. HS256 and its kin are not among the possible
    /// ones: whoever can check them can forge them.
    package static let standardAlgorithms = [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
    ]

    /// No credentials.
    package init() {}

    /// Every choice of kinds, as `auth.mode` has them.
    package static let modeChoices = [
        "none", "keys", "jwt", "mtls", "keys,jwt", "keys,mtls", "jwt,mtls", "keys,jwt,mtls",
    ]
}
