// Signatures as Standard Webhooks 1.0.0 has them.
internal import Crypto
internal import Foundation
internal import TrackingSinks

/// One secret, or two while it is changed: requests are signed with each of them.
struct WebhookSecrets {
    private let keys: [SymmetricKey]

    /// What is wrong with a file of secrets. It never quotes the file.
    struct Fault: Error, Equatable, CustomStringConvertible {
        let description: String
    }

    private static let keyBytes = 24...64
    private static let maxKeys = 2
    /// Two secrets, with room for blank lines.
    private static let maxFileBytes = 1024

    /// Reads a file: `whsec_` and base64, one or two, in a line each.
    ///
    /// - Throws: `Fault` with the file's name and the rule.
    init(file: String) throws(Fault) {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw Fault(description: "webhook.secret_file is \"\(file)\", which cannot be read")
        }
        do throws(Fault) {
            guard data.count <= Self.maxFileBytes else {
                throw Fault(description: "has to have at most \(Self.maxFileBytes) bytes")
            }
            try self.init(text: String(decoding: data, as: UTF8.self))
        } catch {
            throw Fault(description: "webhook.secret_file is \"\(file)\", which \(error)")
        }
    }

    /// Reads a file's text.
    ///
    /// - Throws: `Fault` with the rule.
    init(text: String) throws(Fault) {
        let lines = text.split(whereSeparator: \.isWhitespace)
        guard (1...Self.maxKeys).contains(lines.count) else {
            throw Fault(description: "has to have one secret, or two in a line each")
        }
        var keys: [SymmetricKey] = []
        for line in lines {
            guard line.hasPrefix("whsec_"),
                let key = Data(base64Encoded: String(line.dropFirst("whsec_".count)))
            else { throw Fault(description: "has to have secrets of whsec_ and base64") }
            guard Self.keyBytes.contains(key.count) else {
                throw Fault(
                    description: "has to have secrets of \(Self.keyBytes.lowerBound) to "
                        + "\(Self.keyBytes.upperBound) bytes (before base64)")
            }
            keys.append(SymmetricKey(data: key))
        }
        self.keys = keys
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
