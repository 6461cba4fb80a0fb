// Tokens, good ones and those of attackers, each with what becomes of it (RFC 8725).

@testable internal import Credentials
internal import Testing

/// One token, and why it is refused; nil where it is taken.
struct TokenRow: Sendable, CustomTestStringConvertible {
    let name: String
    var header = #"{"alg":"ES256","kid":"ec","typ":"JWT"}"#
    var payload = TestIssuer.payload()
    var signer: String? = "ec"
    /// Changes the finished token.
    var damage: @Sendable (String) -> String = { $0 }
    let refusal: CredentialRefusal?

    var testDescription: String { self.name }
}

extension TokenRow {
    private static let now = TestIssuer.now

    private static func claims(
        _ name: String, _ changes: [String: String?], _ refusal: CredentialRefusal?
    ) -> TokenRow {
        TokenRow(name: name, payload: TestIssuer.payload(changes), refusal: refusal)
    }

    private static func header(
        _ name: String, _ header: String, _ refusal: CredentialRefusal?, signer: String? = "ec"
    ) -> TokenRow {
        TokenRow(name: name, header: header, signer: signer, refusal: refusal)
    }

    static let good = [
        TokenRow(name: "ES256", refusal: nil),
        header("EdDSA", #"{"alg":"EdDSA","kid":"ed"}"#, nil, signer: "ed"),
        header("RS256", #"{"alg":"RS256","kid":"rsa"}"#, nil, signer: "RS256"),
        header("PS256", #"{"alg":"PS256","kid":"rsa"}"#, nil, signer: "PS256"),
        header("spaces and escapes", #" { "alg" : "ES\u0032\u0035\u0036" , "kid":"ec" } "#, nil),
        claims("aud in a list", ["aud": #"["other","sightline"]"#], nil),
        claims("other claims", ["sub": "\"s\"", "n": #"{"a":[1,{"b":null}]}"#], nil),
        claims("a fraction of a second", ["exp": "\(now).5"], nil),
        claims("exp a second after now - leeway", ["exp": "\(now - 29)"], nil),
        claims("exp beyond any calendar", ["exp": "1e300"], nil),
        claims("nbf at now + leeway", ["nbf": "\(now + 30)"], nil),
    ]

    static let headers = [
        header("alg none, unsigned", #"{"alg":"none"}"#, .malformed, signer: nil),
        header("alg none, signed", #"{"alg":"none"}"#, .algorithm),
        header("alg none with a kid", #"{"alg":"none","kid":"ec"}"#, .algorithm),
        header("alg None", #"{"alg":"None","kid":"ec"}"#, .algorithm),
        header("alg nOnE", #"{"alg":"nOnE","kid":"ec"}"#, .algorithm),
        header("alg es256", #"{"alg":"es256","kid":"ec"}"#, .algorithm),
        header("alg HS256", #"{"alg":"HS256","kid":"ec"}"#, .algorithm),
        header("no alg", #"{"kid":"ec"}"#, .header),
        header("alg a number", #"{"alg":256,"kid":"ec"}"#, .header),
        header("alg empty", #"{"alg":"","kid":"ec"}"#, .algorithm),
        header("alg of another key", #"{"alg":"ES256","kid":"rsa"}"#, .algorithm),
        header("alg that the curve does not fit", #"{"alg":"ES384","kid":"ec"}"#, .algorithm),
        header(
            "PS256 said, RS256 done", #"{"alg":"PS256","kid":"rsa"}"#, .signature, signer: "RS256"),
        header(
            "RS256 said, RS512 done", #"{"alg":"RS256","kid":"rsa"}"#, .signature, signer: "RS512"),
        header("another key's signature", #"{"alg":"EdDSA","kid":"ed"}"#, .signature),
        header("kid unknown", #"{"alg":"ES256","kid":"nobody"}"#, .unknownSigner),
        header("kid of a key for encryption", #"{"alg":"RS256","kid":"other"}"#, .unknownSigner),
        header("kid a path", #"{"alg":"ES256","kid":"../../../etc/passwd"}"#, .unknownSigner),
        header("kid a query", #"{"alg":"ES256","kid":"' OR 1=1 --"}"#, .unknownSigner),
        header("kid empty", #"{"alg":"ES256","kid":""}"#, .unknownSigner),
        header("kid missing, with three keys", #"{"alg":"ES256"}"#, .unknownSigner),
        header("kid null", #"{"alg":"ES256","kid":null}"#, .header),
        header("kid a list", #"{"alg":"ES256","kid":["ec"]}"#, .header),
        header(
            "kid of 256 bytes", #"{"alg":"ES256","kid":"\#(String(repeating: "k", count: 256))"}"#,
            .unknownSigner),
        header(
            "kid of 257 bytes", #"{"alg":"ES256","kid":"\#(String(repeating: "k", count: 257))"}"#,
            .header),
        header("jku", #"{"alg":"ES256","kid":"ec","jku":"https://evil.example/k"}"#, .header),
        header("x5u", #"{"alg":"ES256","kid":"ec","x5u":"https://evil.example/c"}"#, .header),
        header("jwk", #"{"alg":"ES256","kid":"ec","jwk":{"kty":"EC"}}"#, .header),
        header("x5c", #"{"alg":"ES256","kid":"ec","x5c":["MII"]}"#, .header),
        header("crit", #"{"alg":"ES256","kid":"ec","crit":["exp"],"exp":1}"#, .header),
        header("b64", #"{"alg":"ES256","kid":"ec","b64":false}"#, .header),
        header("zip", #"{"alg":"ES256","kid":"ec","zip":"DEF"}"#, .header),
        header("cty, a token in a token", #"{"alg":"ES256","kid":"ec","cty":"JWT"}"#, .header),
        header("alg twice", #"{"alg":"none","alg":"ES256","kid":"ec"}"#, .header),
        header("kid twice, once escaped", #"{"alg":"ES256","kid":"x","k\u0069d":"ec"}"#, .header),
        header("no object", #"["ES256"]"#, .header),
        header("not whole", #"{"alg":"ES256","kid":"ec""#, .header),
        header("more after it", #"{"alg":"ES256","kid":"ec"}{}"#, .header),
        header("empty", "", .malformed),
        header(
            "over 4096 bytes",
            #"{"alg":"ES256","kid":"ec","a":"\#(String(repeating: "a", count: 3100))"}"#,
            .tooLong),
    ]

    static let contents = [
        claims("no exp", ["exp": nil], .claims),
        claims("exp at now - leeway", ["exp": "\(now - 30)"], .expired),
        claims("exp long ago", ["exp": "0"], .expired),
        claims("exp before 1970", ["exp": "-1e300"], .expired),
        claims("exp as text", ["exp": "\"\(now + 60)\""], .claims),
        claims("exp null", ["exp": "null"], .claims),
        claims("nbf a second after now + leeway", ["nbf": "\(now + 31)"], .notYetValid),
        claims("nbf as text", ["nbf": "\"0\""], .claims),
        claims("no aud", ["aud": nil], .audience),
        claims("aud another", ["aud": "\"sightline2\""], .audience),
        claims("aud in capitals", ["aud": "\"SIGHTLINE\""], .audience),
        claims("aud an empty list", ["aud": "[]"], .audience),
        claims("aud a list with a number", ["aud": "[\"sightline\",1]"], .claims),
        claims("aud an object", ["aud": "{\"sightline\":1}"], .claims),
        claims("no iss", ["iss": nil], .issuer),
        claims("iss another", ["iss": "\"https://issuer.example.evil.example\""], .issuer),
        claims("iss a list", ["iss": "[\"https://issuer.example\"]"], .issuer),
        claims("no tenant", ["tenant": nil], .tenant),
        claims("tenant empty", ["tenant": "\"\""], .tenant),
        claims("tenant a number", ["tenant": "7"], .tenant),
        claims("tenant with a slash", ["tenant": "\"../other\""], .tenant),
        claims(
            "tenant of 65 bytes", ["tenant": "\"\(String(repeating: "t", count: 65))\""], .tenant),
        TokenRow(
            name: "exp twice", payload: TestIssuer.payload().dropLast() + ",\"exp\":9999999999}",
            refusal: .claims),
        TokenRow(
            name: "tenant twice, once escaped",
            payload: TestIssuer.payload().dropLast() + ",\"t\\u0065nant\":\"tenant-b\"}",
            refusal: .claims),
        claims(
            "nested 8 deep",
            ["n": String(repeating: "[", count: 7) + String(repeating: "]", count: 7)], nil),
        claims(
            "nested 10 deep",
            ["n": String(repeating: "[", count: 9) + String(repeating: "]", count: 9)], .claims),
        TokenRow(name: "a list", payload: "[]", refusal: .claims),
        TokenRow(name: "a token", payload: "e30.e30.e30", refusal: .claims),
        TokenRow(name: "no JSON", payload: "tenant-a", refusal: .claims),
    ]

    static let damaged = [
        damaged("two parts", .malformed) {
            $0.split(separator: ".").dropLast().joined(separator: ".")
        },
        damaged("two parts and a dot", .malformed) {
            $0.split(separator: ".").dropLast().joined(separator: ".") + "."
        },
        damaged("four parts", .malformed) { $0 + ".e30" },
        damaged("five parts, as encrypted ones have", .malformed) { $0 + ".e30.e30" },
        damaged("nothing", .malformed) { _ in "" },
        damaged("dots alone", .malformed) { _ in ".." },
        damaged("a signature of another token", .signature) { $0.dropLast(8) + "AAAAAAAA" },
        damaged("a shorter signature", .signature) { String($0.dropLast(4)) },
        damaged("a longer signature", .signature) { $0 + "AAAA" },
        damaged("padding", .signature) { $0 + "==" },
        damaged("a space after it", .signature) { $0 + " " },
        damaged("a newline in it", .header) { "\n" + $0 },
        damaged("claims of another", .signature) { token in
            var parts = token.split(separator: ".").map(String.init)
            parts[1] = Base64URL.encode(Array(TestIssuer.payload(["tenant": "\"root\""]).utf8))
            return parts.joined(separator: ".")
        },
        damaged("bits left over in the claims", .signature) { token in
            var parts = token.split(separator: ".").map(String.init)
            parts[1] += "B"
            return parts.joined(separator: ".")
        },
        damaged("20 KiB", .tooLong) { $0 + String(repeating: "A", count: 20 << 10) },
        damaged("a kid of 1 MiB", .tooLong) { String(repeating: "k", count: 1 << 20) + $0 },
    ]

    private static func damaged(
        _ name: String, _ refusal: CredentialRefusal,
        _ damage: @escaping @Sendable (String) -> String
    ) -> TokenRow {
        TokenRow(name: name, damage: damage, refusal: refusal)
    }
}
