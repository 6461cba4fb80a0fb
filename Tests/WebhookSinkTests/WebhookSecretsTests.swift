// Signatures, against the vector of the specification's own library.
internal import Foundation
internal import TestSupport
internal import Testing
@testable internal import WebhookSink

struct WebhookSecretsTests {
    private static let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    private static func written(bytes: Int) -> String {
        "whsec_" + Data(repeating: 7, count: bytes).base64EncodedString()
    }

    @Test("a signature is that of standardwebhooks 1.1.0")
    func vector() throws {
        let secrets = try WebhookSecrets(text: Self.secret + "\n")
        let body = [UInt8](#"[{"specversion":"1.0"}]"#.utf8)
        #expect(
            secrets.signature(id: "msg_1", timestamp: 1_700_000_000, body: body)
                == "v1,27zn3Na3o4dNbZdGcHL67IueFG6PK2pNtvZHoMxb7Ak=")
    }

    @Test("two secrets give two signatures, in their order")
    func rotation() throws {
        let other = Self.written(bytes: 24)
        let one = try WebhookSecrets(text: Self.secret)
        let two = try WebhookSecrets(text: other)
        let both = try WebhookSecrets(text: "\(other)\n\n\(Self.secret)\n")
        func sign(_ secrets: WebhookSecrets) -> String {
            secrets.signature(id: "msg_2", timestamp: 1, body: [1, 2])
        }
        #expect(sign(both) == "\(sign(two)) \(sign(one))")
    }

    @Test("an id depends on the body alone, and has no dot")
    func ids() {
        let id = WebhookSecrets.id(of: [UInt8]("abc".utf8))
        // The first half of SHA-256 of "abc" (FIPS 180-4).
        #expect(id == "msg_ba7816bf8f01cfea414140de5dae2223")
        #expect(WebhookSecrets.id(of: [UInt8]("abd".utf8)) != id)
    }

    @Test(
        "a file with other than one or two secrets of 24 to 64 bytes is refused",
        arguments: [
            ("", "one secret, or two"), ("\n", "one secret, or two"),
            ("\(Self.secret) \(Self.secret) \(Self.secret)", "one secret, or two"),
            (Self.written(bytes: 23), "24 to 64 bytes"),
            (Self.written(bytes: 65), "24 to 64 bytes"),
            (Self.secret + "\n" + Self.written(bytes: 23), "24 to 64 bytes"),
            ("whpk_AAAA", "whsec_"), ("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "whsec_"),
            ("whsec_!!!!", "whsec_"), ("WHSEC_AAAA", "whsec_"),
        ])
    func faults(_ text: String, _ words: String) {
        let fault = #expect(throws: WebhookSecretFile.Fault.self) { try WebhookSecrets(text: text) }
        #expect(fault?.description.contains(words) == true)
        for line in text.split(separator: "\n") where line.count > 10 {
            #expect(fault?.description.contains(line.dropFirst(6)) == false)
        }
    }

    @Test("the shortest and the longest secret are taken", arguments: [24, 64])
    func lengths(bytes: Int) {
        #expect(throws: Never.self) { try WebhookSecrets(text: Self.written(bytes: bytes)) }
    }

    @Test("a file that is missing or too long is named, and its text is not")
    func files() throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("secret")
        let missing = #expect(throws: WebhookFailure.self) { try WebhookSecrets(file: file) }
        #expect(missing?.description == "webhook.secret_file is \"\(file)\", which cannot be read")
        for (bytes, isTaken) in [(1024, true), (1025, false)] {
            let spaces = String(repeating: " ", count: bytes - Self.secret.utf8.count)
            try (Self.secret + spaces).write(toFile: file, atomically: true, encoding: .utf8)
            #expect(((try? WebhookSecrets(file: file)) != nil) == isTaken, "\(bytes)")
        }
    }
}
