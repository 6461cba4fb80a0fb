// Tokens, good ones and those of attackers: each row with what becomes of it (reliability's table
// of tokens, RFC 8725).
@testable internal import Credentials
internal import Crypto
internal import Foundation
internal import GRPCCore
internal import JSON
internal import TestSupport
internal import Testing
@testable internal import TrackingServer

struct TokenTests {
    private static let now = TestIssuer.now

    @Test(
        "a token is taken or refused, for the reason of its row",
        arguments: TokenRow.good + TokenRow.headers + TokenRow.contents + TokenRow.damaged)
    func row(_ row: TokenRow) async throws {
        let issuer = try await TestIssuer.shared
        let verifier = try await self.verifier(issuer.jwks)
        let token = row.damage(
            try issuer.token(header: row.header, payload: row.payload, signer: row.signer))
        #expect(self.refusal(of: token, verifier) == row.refusal)
        #expect(row.refusal.map { ServiceError($0).code } ?? .unauthenticated == .unauthenticated)
    }

    @Test("HS256 over the public key's own text is refused, and so is a key to make it with")
    func confusion() async throws {
        let issuer = try await TestIssuer.shared
        let verifier = try await self.verifier(issuer.jwks)
        for secret in [TestIssuer.modulus, TestIssuer.rsaKey, issuer.jwks] {
            let token = try issuer.token(
                header: #"{"alg":"HS256","kid":"rsa"}"#, payload: TestIssuer.payload(), signer: nil)
            let signed = token.dropLast()
            let code = HMAC<SHA256>.authenticationCode(
                for: Array(signed.utf8), using: SymmetricKey(data: Array(secret.utf8)))
            #expect(
                self.refusal(of: signed + "." + Base64URL.encode(Array(code)), verifier)
                    == .algorithm)
        }
    }

    @Test("a token names its principal, which expires a leeway after it")
    func principal() async throws {
        let issuer = try await TestIssuer.shared
        let verifier = try await self.verifier(issuer.jwks)
        let token = try issuer.token(
            header: #"{"alg":"EdDSA","kid":"ed"}"#, payload: TestIssuer.payload(), signer: "ed")
        let principal = try verifier.principal(of: token, now: Self.now * 1_000_000)
        #expect(principal.tenant.name == "tenant-a" && principal.proof == .token)
        #expect(principal.expiry == (Self.now + 90) * 1_000_000)
        let last = (Self.now + 90) * 1_000_000 - 1
        #expect(throws: Never.self) { try verifier.principal(of: token, now: last) }
        #expect(throws: CredentialRefusal.expired) {
            try verifier.principal(of: token, now: last + 1)
        }
    }

    @Test("a token may have as many bytes as its limit says, and not one more")
    func length() async throws {
        let issuer = try await TestIssuer.shared
        let token = try issuer.token(
            header: #"{"alg":"ES256","kid":"ec"}"#, payload: TestIssuer.payload(), signer: "ec")
        for (limit, refusal) in [
            (token.utf8.count, nil), (token.utf8.count - 1, CredentialRefusal.tooLong),
        ] {
            let verifier = try await self.verifier(issuer.jwks) { $0.tokenBytes = limit }
            #expect(self.refusal(of: token, verifier) == refusal)
        }
    }

    @Test(
        "an algorithm that is not in auth.jwt_algorithms is refused, also where a key could do it")
    func allowList() async throws {
        let issuer = try await TestIssuer.shared
        let verifier = try await self.verifier(issuer.jwks) { $0.jwtAlgorithms = ["EdDSA"] }
        for (signer, kid, refusal) in [
            ("ed", "ed", nil), ("ec", "ec", CredentialRefusal.algorithm),
        ] {
            let algorithm = signer == "ed" ? "EdDSA" : "ES256"
            let token = try issuer.token(
                header: #"{"alg":"\#(algorithm)","kid":"\#(kid)"}"#, payload: TestIssuer.payload(),
                signer: signer)
            #expect(self.refusal(of: token, verifier) == refusal)
        }
    }

    @Test(
        "the names in a token are compared by their bytes, whatever Unicode takes for equal",
        arguments: [
            ("nothing", nil), ("kid", .unknownSigner), ("iss", .issuer), ("aud", .audience),
            ("scope", .scope),
        ] as [(String, CredentialRefusal?)])
    func spellings(_ other: String, _ refusal: CredentialRefusal?) async throws {
        let issuer = try await TestIssuer.shared
        let name = "caf\u{e9}"
        let jwks = issuer.jwks.replacing("\"ec\"", with: "\"\(name)\"")
        let verifier = try await self.verifier(jwks) {
            ($0.jwtIssuer, $0.jwtAudience) = (name, name)
        }
        func spelled(_ place: String) -> String {
            place == other ? "\"cafe\u{301}\"" : "\"\(name)\""
        }
        let token = try issuer.token(
            header: #"{"alg":"ES256","kid":\#(spelled("kid"))}"#,
            payload: TestIssuer.payload([
                "iss": spelled("iss"), "aud": spelled("aud"), "scope": spelled("scope"),
            ]), signer: "ec")
        #expect(self.refusal(of: token, verifier, scope: name) == refusal)
    }

    @Test("where there is one key, a token need not name it, and may not name another")
    func oneKey() async throws {
        let issuer = try await TestIssuer.shared
        let verifier = try await self.verifier(TestIssuer.file([TestIssuer.rsaKey]))
        for (header, refusal) in [
            (#"{"alg":"RS256"}"#, nil), (#"{"alg":"RS256","kid":"rsa"}"#, nil),
            (#"{"alg":"RS256","kid":"ec"}"#, CredentialRefusal.unknownSigner),
        ] {
            let token = try issuer.token(
                header: header, payload: TestIssuer.payload(), signer: "RS256")
            #expect(self.refusal(of: token, verifier) == refusal)
        }
    }

    /// What a token says of its scope and its expiry.
    struct ScopeRow: Sendable {
        let scope: String?
        var expiry = "\(TestIssuer.now + 60)"
        let refusal: CredentialRefusal?
    }

    @Test(
        "a scope that is asked for and missing is PERMISSION_DENIED, after all else is right",
        arguments: [
            ScopeRow(scope: nil, refusal: .scope), ScopeRow(scope: "\"\"", refusal: .scope),
            ScopeRow(scope: "\"read writer\"", refusal: .scope),
            ScopeRow(scope: "\"read write\"", refusal: nil),
            ScopeRow(scope: "[\"read\",\"write\"]", refusal: nil),
            ScopeRow(scope: "7", refusal: .claims),
            ScopeRow(scope: nil, expiry: "0", refusal: .expired),
        ])
    func scope(_ row: ScopeRow) async throws {
        let issuer = try await TestIssuer.shared
        let verifier = try await self.verifier(issuer.jwks)
        let token = try issuer.token(
            header: #"{"alg":"ES256","kid":"ec"}"#,
            payload: TestIssuer.payload(["scope": row.scope, "exp": row.expiry]), signer: "ec")
        #expect(self.refusal(of: token, verifier, scope: "write") == row.refusal)
        #expect(ServiceError(CredentialRefusal.scope).code == .permissionDenied)
    }

    @Test("a token of random bytes is refused, and never ends the process", arguments: 1...20)
    func random(seed: UInt64) async throws {
        var chance = Dice(seed: seed)
        let issuer = try await TestIssuer.shared
        let verifier = try await self.verifier(issuer.jwks)
        let good = Array(
            try issuer.token(
                header: #"{"alg":"ES256","kid":"ec"}"#, payload: TestIssuer.payload(), signer: "ec"
            ).utf8)
        for _ in 0..<200 {
            var bytes = good
            for _ in 0...Int.random(in: 0...8, using: &chance) {
                let index = Int.random(in: bytes.indices, using: &chance)
                bytes[index] = bytes[index] ^ UInt8.random(in: 1 ... .max, using: &chance)
            }
            if bytes != good {
                let token = String(decoding: bytes, as: UTF8.self)
                #expect(self.refusal(of: token, verifier) != nil)
            }
            // The claims too, which are not parsed if the signature is wrong.
            let start = bytes.firstIndex(of: UInt8(ascii: ".")) ?? 0
            _ = try? JWTClaims(encoded: bytes[start...].dropFirst())
            _ = try? JSONValue(token: bytes)
        }
    }

    private func verifier(
        _ jwks: String, _ configure: (inout AuthConfiguration) -> Void = { _ in }
    ) async throws -> TokenVerifier {
        var configuration = TestIssuer.configuration
        configure(&configuration)
        let keys = try await TestDirectory.with { directory in
            let path = directory + "/jwks.json"
            try Data(jwks.utf8).write(to: URL(filePath: path))
            return try await JWTKeySet(path: path, algorithms: configuration.jwtAlgorithms)
        }
        return TokenVerifier(keys: keys, configuration: configuration)
    }

    private func refusal(
        of token: String, _ verifier: TokenVerifier, scope: String = ""
    ) -> CredentialRefusal? {
        do {
            try verifier.principal(of: token, now: Self.now * 1_000_000).check(scope)
            return nil
        } catch {
            return error
        }
    }
}
