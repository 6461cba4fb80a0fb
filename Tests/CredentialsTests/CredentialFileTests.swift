// The files that credentials are judged by: what stops the start, and what a reload changes.
internal import ConfigurationKeys
@testable internal import Credentials
internal import Foundation
internal import GRPCCore
internal import Logging
@testable internal import ServerConfiguration
internal import TestSupport
internal import Testing
internal import X509

struct CredentialFileTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func problem(jwks: String) async throws -> String {
        try await TestDirectory.with { directory in
            let path = directory + "/jwks.json"
            try Data(jwks.utf8).write(to: URL(filePath: path))
            var configuration = TestIssuer.configuration
            configuration.jwksFile = path
            let error = await #expect(throws: ConfigurationError.self) {
                _ = try await CredentialRules(configuration)
            }
            let problems = error?.problems ?? []
            #expect(problems.count == 1)
            #expect(problems.first?.hasPrefix("auth.jwks_file: ") == true)
            return problems.first ?? ""
        }
    }

    @Test(
        "a JWKS file that cannot be used is told of, with the key that is wrong",
        arguments: [
            ("", "is no JWKS"), ("{}", "is no JWKS"), (#"{"keys":{}}"#, "is no JWKS"),
            (#"{"keys":[]}"#, "has no key for"), (#"{"keys":[{"n":"AQAB"}]}"#, "is no JWKS"),
            (#"{"keys":[{"kty":"oct","k":"AAAA","alg":"HS256"}]}"#, "key 1 is symmetric"),
            (
                #"{"keys":[{"kty":"EC","crv":"P-256","d":"AA","x":"A","y":"A"}]}"#,
                "key 1 is private"
            ),
            (#"{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}"#, "key 1 cannot be used"),
            (#"{"keys":[{"kty":"EC","crv":"secp256k1","x":"AA","y":"AA"}]}"#, "has no key for"),
            (#"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#, "key 1 cannot be used"),
            (#"{"keys":[{"kty":"RSA","alg":"RS1","n":"AQAB","e":"AQAB"}]}"#, "has no key for"),
            (
                TestIssuer.file([TestIssuer.rsaKey, TestIssuer.rsaKey]),
                "more than one key: each needs a \"kid\""
            ),
        ])
    func badKeys(_ text: String, _ part: String) async throws {
        let problem = try await self.problem(jwks: text)
        #expect(problem.contains(part), "\(problem)")
    }

    @Test("a JWKS file may hold as many keys as the limit says, and not one more")
    func keyCount() async throws {
        let keys = (0...JWTKeySet.maxKeys).map {
            TestIssuer.rsaKey.replacingOccurrences(of: "\"rsa\"", with: "\"rsa\($0)\"")
        }
        #expect(try await self.problem(jwks: TestIssuer.file(keys)).contains("has 101 keys"))
        try await TestDirectory.with { directory in
            let path = directory + "/jwks.json"
            try Data(TestIssuer.file(keys.dropLast()).utf8).write(to: URL(filePath: path))
            _ = try await JWTKeySet(path: path, algorithms: ["RS256"])
        }
    }

    /// What is set, and the words of the problems that it makes.
    struct ConfigurationRow: Sendable {
        let flags: [String: String]
        let problems: [String]
    }

    @Test(
        "what auth.mode needs and nobody has set is a problem of its own",
        arguments: [
            ConfigurationRow(flags: [:], problems: []),
            ConfigurationRow(flags: ["auth.mode": "keys"], problems: ["auth.keys_file is not set"]),
            ConfigurationRow(
                flags: ["auth.mode": "jwt"],
                problems: [
                    "auth.jwks_file is not set", "auth.jwt_audience is not set",
                    "auth.jwt_issuer is not set",
                ]),
            ConfigurationRow(
                flags: ["auth.mode": "mtls"],
                problems: ["auth.mtls_tenants_file is not set", "tls.mode is not mtls"]),
            ConfigurationRow(
                flags: [
                    "auth.mode": "jwt", "auth.jwks_file": "/dev/null", "auth.jwt_audience": "a",
                    "auth.jwt_issuer": "i", "auth.jwt_algorithms": "RS256, HS256,none",
                ],
                problems: [
                    "auth.jwt_algorithms has \"HS256\"", "auth.jwt_algorithms has \"none\"",
                ]),
        ])
    func missing(_ row: ConfigurationRow) {
        let loaded = ConfigurationSource(flags: row.flags).load()
        var problems: [String] = []
        do {
            _ = try loaded.checked()
        } catch {
            problems = error.problems
        }
        #expect(problems.count == row.problems.count, "\(problems)")
        for part in row.problems {
            #expect(problems.contains { $0.contains(part) }, "\(part) is not in \(problems)")
        }
    }

    // MARK: Certificates

    private func tenants(_ yaml: String) async throws -> CertificateTenants {
        try await TestDirectory.with { directory in
            let path = directory + "/tenants.yaml"
            try Data(yaml.utf8).write(to: URL(filePath: path))
            return try CertificateTenants(path: path)
        }
    }

    @Test(
        "a certificate is its first known name's tenant",
        arguments: [
            ("push.example.com: tenant-a\n", "tenant-a"),
            ("other.example.com: tenant-b\n", nil), ("PUSH.example.com: tenant-a\n", nil),
            ("\"*.example.com\": tenant-a\n", nil),
            ("other: tenant-b\npush.example.com: tenant-a\n", "tenant-a"),
        ])
    func certificate(_ yaml: String, _ tenant: String?) async throws {
        let certificate = try TestAuthority().identity("push.example.com").certificate
        let tenants = try await self.tenants(yaml)
        do throws(CredentialRefusal) {
            let principal = try tenants.principal(of: certificate, now: 0)
            #expect(principal.tenant.name == tenant && principal.proof == .certificate)
        } catch {
            #expect(tenant == nil && error == .certificate)
        }
    }

    @Test("a certificate stands for its tenant until it expires")
    func certificateExpiry() async throws {
        let certificate = try TestAuthority().identity("push.example.com").certificate
        let tenants = try await self.tenants("push.example.com: tenant-a\n")
        let expiry = try #require(try tenants.principal(of: certificate, now: 0).expiry)
        #expect(expiry == Int64(certificate.notValidAfter.timeIntervalSince1970) * 1_000_000)
        #expect(throws: CredentialRefusal.expired) {
            try tenants.principal(of: certificate, now: expiry)
        }
    }

    @Test(
        "a map of certificates that cannot be read is told of",
        arguments: [
            "", "[]", "a", "a: B\n", "a: [b]\n", "a:\n", "\"\": b\n", "[a]: b\n", "a: b: c\n",
        ])
    func badMap(_ yaml: String) async throws {
        await #expect(throws: UnusableFileError.self) { _ = try await self.tenants(yaml) }
    }

    // MARK: Reloading

    @Test("a reload takes new keys, refuses revoked ones, and changes nothing where it fails")
    func reload() async throws {
        try await TestDirectory.with { directory in
            let file = KeysFile(path: directory + "/keys.jsonl")
            let keys = [APIKey(), APIKey()]
            func add(_ key: APIKey) throws {
                let record = KeyRecord(
                    key, tenant: try #require(Tenant("tenant-a")), name: "", scopes: [],
                    created: Date(), expires: nil)
                try file.update { $0.append(record) }
            }
            try add(keys[0])
            var configuration = AuthConfiguration()
            configuration.modes = [.keys]
            configuration.keysFile = file.path
            let authenticator = try await Authenticator(configuration, logger: Self.logger)
            func taken() -> [Bool] {
                keys.map { key in
                    let metadata: Metadata = ["x-api-key": "\(key.text)"]
                    return
                        (try? authenticator.principal(
                            metadata, certificate: nil, needsScope: true)) != nil
                }
            }
            #expect(taken() == [true, false])
            try add(keys[1])
            try file.update { $0[0].revoked = Date() }
            let change = try await authenticator.prepare(configuration)
            #expect(taken() == [true, false])
            change()
            #expect(taken() == [false, true])
            try Data("nonsense\n".utf8).write(to: URL(filePath: file.path))
            await #expect(throws: ConfigurationError.self) {
                _ = try await authenticator.prepare(configuration)
            }
            #expect(taken() == [false, true])
        }
    }
}
