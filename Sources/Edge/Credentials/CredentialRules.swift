internal import ConfigurationKeys
internal import X509

/// The rules that verify credentials, as read from the files. A reload replaces the value as a
/// whole, so that each RPC sees a consistent state.
struct CredentialRules: Sendable {
    private let keys: KeyTable?
    private let tokens: TokenVerifier?
    private let certificates: CertificateTenants?
    private let requiredScope: String

    /// Reads the files that the configured kinds of credentials need.
    ///
    /// - Throws: `ConfigurationError` with a problem for each wrong setting.
    init(_ configuration: AuthConfiguration) async throws(ConfigurationError) {
        var problems: [String] = []
        let modes = configuration.modes
        self.requiredScope = configuration.requiredScope
        self.keys = await Self.read("auth.keys_file", modes.contains(.keys), &problems) {
            KeyTable(try KeysFile(path: configuration.keysFile).records())
        }
        self.tokens = await Self.read("auth.jwks_file", modes.contains(.jwt), &problems) {
            let keys = try await JWTKeySet(
                path: configuration.jwksFile, algorithms: configuration.jwtAlgorithms)
            return TokenVerifier(keys: keys, configuration: configuration)
        }
        self.certificates = await Self.read(
            "auth.mtls_tenants_file", modes.contains(.mtls), &problems
        ) { try CertificateTenants(path: configuration.mtlsTenantsFile) }
        guard problems.isEmpty else { throw ConfigurationError(problems) }
    }

    /// The principal of a credential. A credential in the metadata takes precedence: if it is
    /// refused, the connection's certificate does not help.
    ///
    /// - Parameters:
    ///   - needsScope: whether `auth.required_scope` applies.
    ///   - now: microseconds since 1970.
    func principal(
        of credential: PresentedCredential, certificate: Certificate?, needsScope: Bool, now: Int64
    ) throws(CredentialRefusal) -> Principal {
        let principal = try self.principal(of: credential, certificate: certificate, now: now)
        if needsScope { try principal.check(self.requiredScope) }
        return principal
    }

    private func principal(
        of credential: PresentedCredential, certificate: Certificate?, now: Int64
    ) throws(CredentialRefusal) -> Principal {
        switch credential {
        case .key(let key):
            guard let keys = self.keys else { throw .malformed }
            return try keys.principal(of: key, now: now)
        case .token(let token):
            guard let tokens = self.tokens else { throw .malformed }
            return try tokens.principal(of: token, now: now)
        case .none:
            guard let certificates = self.certificates, let certificate else { throw .missing }
            return try certificates.principal(of: certificate, now: now)
        }
    }

    private static func read<Value>(
        _ key: String, _ isNeeded: Bool, _ problems: inout [String],
        _ body: () async throws -> Value
    ) async -> Value? {
        guard isNeeded else { return nil }
        do {
            return try await body()
        } catch {
            problems.append("\(key): \(error)")
            return nil
        }
    }
}
