// The keys of who may send.
internal import Credentials

extension ConfigurationKey {
    /// The keys `auth.*`. `auth.mode` needs a restart: what is open must not close, nor the other
    /// way round, by a signal alone.
    static let auth: [ConfigurationKey] = [
        .init(
            "auth.mode", .choice("none", of: AuthConfiguration.modeChoices),
            "credentials that are taken: API keys, signed tokens, client certificates"),
        .text(
            "auth.keys_file", \.auth.keysFile, "API keys, as `sightline keys` writes them",
            isReloadable: true),
        .text(
            "auth.jwks_file", \.auth.jwksFile, "public keys that sign tokens (JWKS, RFC 7517)",
            isReloadable: true),
        .text(
            "auth.jwt_audience", \.auth.jwtAudience, "what a token's aud has to name",
            isReloadable: true),
        .text(
            "auth.jwt_issuer", \.auth.jwtIssuer, "what a token's iss has to be",
            isReloadable: true),
        .text(
            "auth.jwt_tenant_claim", \.auth.jwtTenantClaim,
            "the claim of a token that holds its tenant",
            isReloadable: true),
        .init(
            "auth.jwt_algorithms",
            .text(AuthConfiguration.standardAlgorithms.joined(separator: ",")),
            "algorithms that tokens may be signed with", isReloadable: true),
        .duration(
            "auth.jwt_leeway_seconds", \.auth.jwtLeeway, 0...300,
            "seconds that the clocks of issuer and server may be apart", isReloadable: true),
        .number(
            "auth.token_bytes", \.auth.tokenBytes, 1...(16 << 10), "bytes of a token",
            isReloadable: true),
        .text(
            "auth.required_scope", \.auth.requiredScope,
            "the scope that keys and tokens need; empty for none",
            isReloadable: true),
        .text(
            "auth.mtls_tenants_file", \.auth.mtlsTenantsFile,
            "tenants by DNS name or URI of a client certificate (YAML)", isReloadable: true),
        .flag(
            "auth.open_reflection", \.auth.openReflection,
            "whether server reflection answers without credentials too"),
    ]
}

extension AuthConfiguration {
    /// Reads what is more than one value.
    mutating func read(_ values: ConfigurationValues) {
        self.modes = Set(Self.list(values.text("auth.mode")).compactMap(Mode.init))
        self.jwtAlgorithms = Self.list(values.text("auth.jwt_algorithms"))
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { word in
            String(word.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// What is wrong with the keys taken together, before any file is read.
    ///
    /// - Parameter checksClientCertificates: whether `tls.mode` is mtls.
    func problems(checksClientCertificates: Bool) -> [String] {
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
