internal import Crypto

/// An API key as its holder has it: `slk_`, an id, `_` and a secret. Its description omits the
/// secret.
package struct APIKey: Sendable, CustomStringConvertible {
    /// The prefix of every key, so that people and secret scanners recognize it.
    static let prefix = "slk_"
    private static let idBytes = 16
    private static let secretBytes = 43

    /// The id: 16 hexadecimal digits, not secret.
    package let id: String
    /// The secret: 256 random bits in base64url.
    private let secret: String

    /// Creates a random key.
    package init() {
        var generator = SystemRandomNumberGenerator()
        let id = String(generator.next() as UInt64, radix: 16)
        self.id = String(repeating: "0", count: max(0, Self.idBytes - id.count)) + id
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        self.secret = Base64URL.encode(bytes)
    }

    /// Parses a key; nil if the text is malformed.
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

    /// The whole key, including the secret. Show it once only.
    package var text: String { "\(Self.prefix)\(self.id)_\(self.secret)" }
    /// The key without its secret, safe to log.
    package var description: String { "\(Self.prefix)\(self.id)_…" }

    /// The SHA-256 of the secret, which is stored instead of it. A slow password hash would add
    /// nothing: 256 random bits cannot be guessed, however fast each guess is.
    package var digest: [UInt8] { Array(SHA256.hash(data: Array(self.secret.utf8))) }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}
