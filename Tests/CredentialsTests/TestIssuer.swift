// An issuer of tokens: keys of its own, and whatever header and claims a test writes.
@testable internal import Credentials
internal import Foundation
internal import JWTKit

/// Signs tokens as a good issuer does, or as an attacker might.
struct TestIssuer: Sendable {
    /// The moment that the tests of tokens take place at, in seconds since 1970.
    static let now: Int64 = 1_800_000_000
    /// Claims of a good token of `now`.
    static let claims: [String: String] = [
        "iss": "\"https://issuer.example\"", "aud": "\"sightline\"", "tenant": "\"tenant-a\"",
        "exp": "\(now + 60)",
    ]
    /// What the server asks of them.
    static var configuration: AuthConfiguration {
        var configuration = AuthConfiguration()
        configuration.modes = [.jwt]
        configuration.jwtIssuer = "https://issuer.example"
        configuration.jwtAudience = "sightline"
        configuration.jwtLeeway = .seconds(30)
        return configuration
    }

    /// The issuer of the tests: making its keys takes longer than most of them.
    static var shared: TestIssuer { get async throws { try await Self.made.value } }
    private static let made = Task { try await TestIssuer() }

    /// The public keys, as the file holds them: `rsa`, `ec` and `ed`.
    let jwks: String
    private let signers: [String: any JWTAlgorithm]

    private init() async throws {
        let ec = ES256PrivateKey()
        let ed = try EdDSA.PrivateKey()
        var signers: [String: any JWTAlgorithm] = [
            "ec": try await JWTKeyCollection().add(ecdsa: ec).getKey(),
            "ed": try await JWTKeyCollection().add(eddsa: ed).getKey(),
        ]
        for algorithm in [JWK.Algorithm.rs256, .ps256, .rs512] {
            let jwk = JWK.rsa(
                algorithm, identifier: "rsa", modulus: Self.modulus, exponent: "AQAB",
                privateExponent: Self.privateExponent)
            signers[algorithm.rawValue] = try await JWTKeyCollection().add(jwk: jwk).getKey()
        }
        self.signers = signers
        let point = ec.parameters
        self.jwks = Self.file([
            Self.rsaKey,
            """
            {"kty":"EC","crv":"P-256","kid":"ec","x":"\(point?.x ?? "")","y":"\(point?.y ?? "")"}
            """,
            """
            {"kty":"OKP","crv":"Ed25519","kid":"ed","alg":"EdDSA",
             "x":"\(Base64URL.encode(ed.publicKey.rawRepresentation))"}
            """,
            #"{"kty":"RSA","use":"enc","alg":"RSA-OAEP","kid":"other","n":"AQAB","e":"AQAB"}"#,
        ])
    }

    /// A file of these keys.
    static func file(_ keys: [String]) -> String {
        #"{"keys":[\#(keys.joined(separator: ","))]}"#
    }

    /// The RSA key, public.
    static let rsaKey = #"{"kty":"RSA","kid":"rsa","n":"\#(modulus)","e":"AQAB"}"#

    /// A token of this text, whatever it is. `signer` is RS256, RS512, PS256, ec or ed; without
    /// one the last part is `signature`.
    func token(
        header: String, payload: String, signer: String?, signature: [UInt8] = []
    ) throws -> String {
        let signed =
            Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
        let bytes = try signer.map { try self.sign(Array(signed.utf8), $0) } ?? signature
        return signed + "." + Base64URL.encode(bytes)
    }

    /// Signs bytes.
    func sign(_ bytes: [UInt8], _ signer: String) throws -> [UInt8] {
        struct NoSuchSigner: Error {}
        guard let algorithm = self.signers[signer] else { throw NoSuchSigner() }
        return try algorithm.sign(bytes)
    }

    /// Claims as JSON; nil takes one away.
    static func payload(_ changes: [String: String?] = [:]) -> String {
        let members = Self.claims.merging(changes.filter { $0.value != nil }.mapValues { $0 ?? "" })
        { $1 }.filter { changes[$0.key] != .some(nil) }
        return "{"
            + members.sorted { $0.key < $1.key }.map { "\"\($0)\":\($1)" }
            .joined(separator: ",") + "}"
    }

    /// Made for these tests, and used nowhere else.
    static let modulus =
        "lEULM7s2SAIC9qprM477Q8fbu19zJE_GQA0qroCRWhEbDAvQT67YRJkL2xKaOE06hiVYiF6nxKv1Y1jVjFKm5Jy4jn"
        + "iZsLamYxq8ogJyZduhYMLACjYZrDR5QFNJPpY8RTEBZZ1AapALrMTdvbtbhnzwiwYhzMXndCqLsCgIgpHOzGPjj"
        + "5XRV-IanDpjsl_e1YOCFz9rWEEt1SLOcnwqRpc9IHVpYkyhFaj32-m89AGEYAr6lqSv3fyoOFJ5S1mwULLBFLS3"
        + "o9u2P3oxL11nrIshFB9cDl1w4jgiOHhN3tHW5LopHYfTpHJeVuDM5uDEaWSgrWaNmDFBztbH8kRGKQ"
    private static let privateExponent =
        "SBSOjCNItKG6FOrEeMCVlQDxXVSVdsvdIOlFv2FNGdk3BxiIoR0CBoXVJmWe8NdUysr_-Xpn5pHg_5m72jYlpqEVo3"
        + "Na5wJBstUG3zBRVb7748ibNootwltjIoVa0G9-3WokFSsAa7aEJQVhUvLxF3COl2SplYZDc5MM4WgJRrXHCDUvL"
        + "P_hvI1WcAOxauNJlpgAsxxHEHWa7BTBXggNdjN0yQmkJdQcCQ5jk0BjlXpOrWWaP1YoThwo9Vy810jvSOYbHMzt"
        + "L1zxucBg_X71ech7HCA60irfYCW6etaOogpR_oZCwvoT6p1aLqdixjU0iZoAj_sT5hgDuy8EBCeB"
}
