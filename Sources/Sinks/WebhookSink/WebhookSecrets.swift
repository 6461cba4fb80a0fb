// Signatures as Standard Webhooks 1.0.0 has them.
internal import Crypto
internal import Foundation

/// One secret, or two while it is changed: requests are signed with each of them.
struct WebhookSecrets {
    private let keys: [SymmetricKey]

    /// Reads a file.
    ///
    /// - Throws: `WebhookFailure` with the file's name and the rule.
    init(file: String) throws(WebhookFailure) {
        do {
            self.keys = try WebhookSecretFile.keys(at: file).map { SymmetricKey(data: $0) }
        } catch {
            throw WebhookFailure("webhook.secret_file is \"\(file)\", which \(error)")
        }
    }

    /// Reads a file's text.
    ///
    /// - Throws: `WebhookSecretFile.Fault` with the rule.
    init(text: String) throws(WebhookSecretFile.Fault) {
        self.keys = try WebhookSecretFile.keys(of: text).map { SymmetricKey(data: $0) }
    }

    /// The value of `webhook-signature`: a signature of each secret, with a space between them.
    func signature(id: String, timestamp: Int64, body: some DataProtocol) -> String {
        self.keys.map { key in
            var mac = HMAC<SHA256>(key: key)
            mac.update(data: Data("\(id).\(timestamp).".utf8))
            mac.update(data: body)
            return "v1," + Data(mac.finalize()).base64EncodedString()
        }.joined(separator: " ")
    }

    /// The value of `webhook-id`: the same for the same body, also after a restart.
    static func id(of body: some DataProtocol) -> String {
        let digest = SHA256.hash(data: body)
        return "msg_"
            + digest.prefix(16).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
    }
}
