package import Foundation

/// An API key as stored in the keys file, a line of JSON, without its secret.
package struct KeyRecord: Codable, Sendable, Equatable {
    /// The key's id: 16 hexadecimal digits.
    package let id: String
    /// The tenant that the key belongs to.
    package let tenant: String
    /// A label for people.
    package let name: String
    /// The scopes that the key grants.
    package let scopes: [String]
    /// The SHA-256 of its secret, 64 hexadecimal digits.
    package let sha256: String
    /// When the key was created.
    package let created: Date
    /// When the key expires; nil for never.
    package let expires: Date?
    /// When the key was revoked; nil if it was not.
    package var revoked: Date?

    /// Creates the record of a new key.
    package init(
        _ key: APIKey, tenant: Tenant, name: String, scopes: [String], created: Date, expires: Date?
    ) {
        self.id = key.id
        self.tenant = tenant.name
        self.name = name
        self.scopes = scopes
        self.sha256 = key.digest.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        // The file stores whole seconds.
        self.created = Date(timeIntervalSince1970: created.timeIntervalSince1970.rounded(.down))
        self.expires = expires.map {
            Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down))
        }
        self.revoked = nil
    }

    /// The decoded digest; nil if the text is malformed.
    var digest: [UInt8]? {
        let digits = Array(self.sha256.utf8)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            let text = String(decoding: digits[index...(index + 1)], as: UTF8.self)
            guard text.first?.isHexDigit == true, let byte = UInt8(text, radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }
}
