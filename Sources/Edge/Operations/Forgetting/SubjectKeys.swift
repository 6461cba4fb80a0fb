package import ConfigurationKeys
internal import Foundation
package import TrackingRules
internal import WireFormat

/// The keys in `privacy.key_file`: the newest hashes subjects, the former ones only find them.
package struct SubjectKeys: Sendable {
    private let hashes: [KeyedHash]

    /// The maximum number of keys: each former key costs a lookup.
    private static let maxKeys = 16
    private static let maxFileBytes = 64 << 10

    /// Reads the file that the configuration names; without one there are no keys.
    ///
    /// - Throws: `ConfigurationError` with the file, the rule and the fix.
    package init(_ configuration: PrivacyConfiguration) throws(ConfigurationError) {
        if configuration.keyFile.isEmpty {
            guard configuration.subject == .plain else {
                throw ConfigurationError([
                    "privacy.key_file is empty, but privacy.subject is hashed: name a file with a "
                        + "key, as `head -c 32 /dev/urandom | base64` makes one"
                ])
            }
            self.hashes = []
            return
        }
        let path = configuration.keyFile
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(["privacy.key_file: \"\(path)\" cannot be read"])
        }
        guard data.count <= Self.maxFileBytes else {
            throw ConfigurationError([
                "privacy.key_file: \"\(path)\" has \(data.count) bytes, the limit is "
                    + "\(Self.maxFileBytes)"
            ])
        }
        do {
            self.hashes = try Self.keys(of: String(decoding: data, as: UTF8.self))
                .map(KeyedHash.init)
        } catch {
            throw ConfigurationError(["privacy.key_file: \"\(path)\": \(error)"])
        }
    }

    /// Why a file of keys is unusable. It never quotes a key.
    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// The keys of a file's text, the newest first.
    static func keys(of text: String) throws(Fault) -> [[UInt8]] {
        var keys: [[UInt8]] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty { continue }
            guard let key = Data(base64Encoded: line), key.count >= KeyedHash.minKeyBytes else {
                throw Fault(
                    description: "line \(number + 1) is no base64 of at least "
                        + "\(KeyedHash.minKeyBytes) bytes")
            }
            keys.append([UInt8](key))
        }
        guard (1...Self.maxKeys).contains(keys.count) else {
            throw Fault(description: "\(keys.count) keys: it has to have 1 to \(Self.maxKeys)")
        }
        return keys
    }

    /// The hash for the subjects of new events; nil if they are recorded as sent.
    package func admissionHash(_ configuration: PrivacyConfiguration) -> KeyedHash? {
        configuration.subject == .hashed ? self.hashes.first : nil
    }

    /// All ids under which a subject may be recorded: its own, and the hashes by every key.
    package func ids(of id: String, tenant: String) -> [String] {
        [id]
            + tenant.withBytes { tenant in
                id.withBytes { id in
                    self.hashes.map { hash in
                        String(decoding: hash(tenant: tenant, subject: id).text, as: UTF8.self)
                    }
                }
            }
    }
}
