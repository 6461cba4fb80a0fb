// An API key as its holder has it: `slk_`, an id to find it by, `_`, and a secret.
internal import Crypto

/// A key with its secret. Descriptions leave the secret out.
package struct APIKey: Sendable, CustomStringConvertible {
    /// What every key begins with, so that people and scanners of leaked secrets know it.
    static let prefix = "slk_"
    private static let idBytes = 16
    private static let secretBytes = 43

    /// 16 hexadecimal digits, which are no secret.
    package let id: String
    /// 256 random bits in base64url.
    private let secret: String

    /// A new key, random from the system.
    package init() {
        var generator = SystemRandomNumberGenerator()
        let id = String(generator.next() as UInt64, radix: 16)
        self.id = String(repeating: "0", count: max(0, Self.idBytes - id.count)) + id
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        self.secret = Base64URL.encode(bytes)
    }

    /// Reads a key; nil where it has not the form of one.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        let start = Self.prefix.utf8.count
        let end = start + Self.idBytes
        guard bytes.count == end + 1 + Self.secretBytes, bytes.starts(with: Self.prefix.utf8),
            bytes[start..<end].allSatisfy(Self.isDigit), bytes[end] == UInt8(ascii: "_"),
            Base64URL.decode(bytes[(end + 1)...]) != nil
        else { return nil }
        self.id = String(decoding: bytes[start..<end], as: UTF8.self)
        self.secret = String(decoding: bytes[(end + 1)...], as: UTF8.self)
    }

    /// The whole key, to be shown once.
    package var text: String { "\(Self.prefix)\(self.id)_\(self.secret)" }
    /// The key without its secret.
    package var description: String { "\(Self.prefix)\(self.id)_…" }

    /// What is stored of the secret: its SHA-256. A slow hash, as passwords need it, would add
    /// nothing: nobody guesses 256 random bits, however fast a guess is checked.
    package var digest: [UInt8] { Array(SHA256.hash(data: Array(self.secret.utf8))) }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}
