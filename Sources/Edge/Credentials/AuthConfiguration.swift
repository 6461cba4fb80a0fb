package import ConfigurationKeys

/// The settings `auth.*`: which credentials are accepted, and the files to verify them with.
package struct AuthConfiguration: KeyedConfiguration {
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
    /// The scope that keys and tokens need for everything but the tap; empty for none.
    package var requiredScope = ""
    /// The maximum bytes of a token. It has no key: `limits.metadata_bytes` is reached first.
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

    /// The keys `auth.*`. `auth.mode` needs a restart: a signal alone must neither open a server
    /// nor close one.
    package static let keys: [Key] = [
        .init(
            "auth.mode", .choice("none", of: Self.modeChoices),
            "credentials that are taken: API keys, signed tokens, client certificates"
        ) { text, auth in auth.modes = Set(Self.list(text).compactMap(Mode.init)) },
        .text(
            "auth.keys_file", \.keysFile, "API keys, as `sightline keys` writes them",
            isReloadable: true),
        .text(
            "auth.jwks_file", \.jwksFile, "public keys that sign tokens (JWKS, RFC 7517)",
            isReloadable: true),
        .text(
            "auth.jwt_audience", \.jwtAudience, "what a token's aud has to name",
            isReloadable: true),
        .text("auth.jwt_issuer", \.jwtIssuer, "what a token's iss has to be", isReloadable: true),
        .text(
            "auth.jwt_tenant_claim", \.jwtTenantClaim,
            "the claim of a token that holds its tenant", isReloadable: true),
        .init(
            "auth.jwt_algorithms", .text(Self.standardAlgorithms.joined(separator: ",")),
            "algorithms that tokens may be signed with", isReloadable: true
        ) { text, auth in auth.jwtAlgorithms = Self.list(text) },
        .duration(
            "auth.jwt_leeway_seconds", \.jwtLeeway, 0...300,
            "seconds that the clocks of issuer and server may be apart", isReloadable: true),
        .text(
            "auth.required_scope", \.requiredScope,
            "the scope that keys and tokens need for all but the tap; empty for none",
            isReloadable: true),
        .text(
            "auth.mtls_tenants_file", \.mtlsTenantsFile,
            "tenants by DNS name or URI of a client certificate (YAML)", isReloadable: true),
        .flag(
            "auth.open_reflection", \.openReflection,
            "whether server reflection answers without credentials too"),
    ]

    private static let modeChoices = [
        "none", "keys", "jwt", "mtls", "keys,jwt", "keys,mtls", "jwt,mtls", "keys,jwt,mtls",
    ]

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { word in
            String(word.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// The problems of the keys in combination, found before any file is read.
    ///
    /// - Parameter checksClientCertificates: whether `tls.mode` is mtls.
    package func problems(checksClientCertificates: Bool) -> [String] {
        var problems: [String] = []
        func need(_ key: String, _ value: String, _ mode: Mode) {
            guard self.modes.contains(mode), value.isEmpty else { return }
            problems.append("\(key) is not set, but auth.mode has \(mode.rawValue): set it")
        }
        need("auth.keys_file", self.keysFile, .keys)
        need("auth.jwks_file", self.jwksFile, .jwt)
        need("auth.jwt_audience", self.jwtAudience, .jwt)
        need("auth.jwt_issuer", self.jwtIssuer, .jwt)
        need("auth.mtls_tenants_file", self.mtlsTenantsFile, .mtls)
        if self.modes.contains(.mtls), !checksClientCertificates {
            problems.append(
                "auth.mode has mtls, but tls.mode is not mtls: set tls.mode and tls.client_roots")
        }
        guard self.modes.contains(.jwt) else { return problems }
        let known = Self.standardAlgorithms
        for name in self.jwtAlgorithms where !known.contains(name) {
            problems.append(
                "auth.jwt_algorithms has \"\(name)\", but may hold only "
                    + known.joined(separator: ", "))
        }
        if self.jwtAlgorithms.isEmpty {
            problems.append("auth.jwt_algorithms has none: name one, as in RS256")
        }
        return problems
    }
}
