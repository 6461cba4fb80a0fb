// What the keys file holds of one API key: everything but its secret.
package import Foundation

/// One line of the keys file.
package struct KeyRecord: Codable, Sendable, Equatable {
    /// The key's id, 16 hexadecimal digits.
    package let id: String
    /// Whose key it is.
    package let tenant: String
    /// What its owner calls it.
    package let name: String
    /// What it allows.
    package let scopes: [String]
    /// The SHA-256 of its secret, 64 hexadecimal digits.
    package let sha256: String
    /// When it was made.
    package let created: Date
    /// When it ends by itself.
    package let expires: Date?
    /// When it was revoked.
    package var revoked: Date?

    /// The record of a new key.
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
        // Whole seconds, as the file has them.
        self.created = Date(timeIntervalSince1970: created.timeIntervalSince1970.rounded(.down))
        self.expires = expires.map {
            Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down))
        }
        self.revoked = nil
    }

    /// The digest's bytes; nil where the text is none.
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
