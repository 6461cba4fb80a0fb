// The file of a webhook's secrets, as Standard Webhooks writes them.
package import Foundation

/// Reads one secret, or two while it is changed.
package enum WebhookSecretFile {
    /// What is wrong with a file. It never quotes the file.
    package struct Fault: Error, Equatable, CustomStringConvertible {
        /// The rule, after the file's name and the word "which".
        package let description: String
    }

    private static let keyBytes = 24...64
    private static let maxKeys = 2
    /// Two secrets, with room for blank lines.
    private static let maxFileBytes = 1024

    /// The keys of a file.
    ///
    /// - Throws: `Fault`.
    package static func keys(at file: String) throws(Fault) -> [Data] {
        guard let data = FileManager.default.contents(atPath: file) else {
            throw Fault(description: "cannot be read")
        }
        guard data.count <= Self.maxFileBytes else {
            throw Fault(description: "has to have at most \(Self.maxFileBytes) bytes")
        }
        return try Self.keys(of: String(decoding: data, as: UTF8.self))
    }

    /// The keys of a file's text: `whsec_` and base64, one or two, in a line each.
    ///
    /// - Throws: `Fault`.
    package static func keys(of text: String) throws(Fault) -> [Data] {
        let lines = text.split(whereSeparator: \.isWhitespace)
        guard (1...Self.maxKeys).contains(lines.count) else {
            throw Fault(description: "has to have one secret, or two in a line each")
        }
        var keys: [Data] = []
        for line in lines {
            guard line.hasPrefix("whsec_"),
                let key = Data(base64Encoded: String(line.dropFirst("whsec_".count)))
            else { throw Fault(description: "has to have secrets of whsec_ and base64") }
            guard Self.keyBytes.contains(key.count) else {
                throw Fault(
                    description: "has to have secrets of \(Self.keyBytes.lowerBound) to "
                        + "\(Self.keyBytes.upperBound) bytes (before base64)")
            }
            keys.append(key)
        }
        return keys
    }
}
