// The YAML file of single tenants' quotas, read whole and checked whole.
package import ConfigurationKeys
package import Credentials
internal import Foundation
internal import WireFormat
internal import Yams

/// Reads `quotas.file`: `tenants:`, then a name a line, and below it the keys that differ from the
/// standard: `events_per_second`, `bytes_per_second`, `burst_seconds`.
package struct QuotaFile {
    private let path: String
    private let standard: Quota
    private var quotas: [Tenant: Quota] = [:]
    private var problems: [String] = []

    private static let maxBytes = 4 << 20

    private static let keys = [
        "events_per_second": (\Quota.eventsPerSecond, 0...Quota.maxRate, "events"),
        "bytes_per_second": (\Quota.bytesPerSecond, 0...Quota.maxRate, "bytes"),
        "burst_seconds": (\Quota.burstSeconds, 1...Quota.maxBurstSeconds, "seconds"),
    ]

    /// The quotas of the tenants that the file names; none where no file is configured.
    ///
    /// - Throws: `ConfigurationError` with every problem and its place.
    package static func quotas(
        _ configuration: QuotaConfiguration
    ) throws(ConfigurationError) -> [Tenant: Quota] {
        guard !configuration.file.isEmpty else { return [:] }
        var file = QuotaFile(path: configuration.file, standard: configuration.standard)
        file.read()
        guard file.problems.isEmpty else { throw ConfigurationError(file.problems) }
        return file.quotas
    }

    private init(path: String, standard: Quota) {
        self.path = path
        self.standard = standard
    }

    private mutating func read() {
        let text: String
        do {
            let data = try ReadableFile.read(self.path, maxBytes: Self.maxBytes)
            guard let valid = String(validating: data, as: UTF8.self) else {
                self.problems = ["quotas.file is \"\(self.path)\", but that is not UTF-8"]
                return
            }
            text = valid
        } catch {
            self.problems = ["quotas.file is \"\(self.path)\", but \(error)"]
            return
        }
        do {
            guard let root = try Yams.compose(yaml: text), root.null == nil else { return }
            self.read(root)
        } catch let error as YamlError {
            self.problems = error.problems(ofFile: self.path)
        } catch {
            self.problems = ["\(self.path) is not YAML: \(error)"]
        }
    }

    private mutating func read(_ root: Node) {
        guard let mapping = root.mapping else {
            self.complain(root, "it has to begin with \"tenants:\"")
            return
        }
        for (key, value) in mapping {
            guard key.scalar?.string == "tenants" else {
                self.complain(key, "\(key.scalar?.string ?? "?") is no key; use \"tenants\"")
                continue
            }
            guard let tenants = value.mapping else {
                self.complain(key, "tenants holds names, a line each, with keys below them")
                continue
            }
            for (name, keys) in tenants { self.read(name, keys) }
        }
    }

    private mutating func read(_ name: Node, _ value: Node) {
        guard let tenant = Tenant(name.scalar?.string ?? "") else {
            self.complain(name, "a tenant's name has \(Tenant.rule)")
            return
        }
        guard let keys = value.mapping else {
            self.complain(name, "\(tenant) holds keys, as in \"events_per_second: 1000\"")
            return
        }
        var quota = self.standard
        for (key, value) in keys { self.read(key, value, into: &quota) }
        self.quotas[tenant] = quota
    }

    private mutating func read(_ key: Node, _ value: Node, into quota: inout Quota) {
        let name = key.scalar?.string ?? "?"
        guard let (path, range, unit) = Self.keys[name] else {
            let known = Self.keys.keys.sorted()
            let suggestion = NearestName.suggestion(for: name, among: known)
            self.complain(key, "\(name) is no key of a tenant's quota\(suggestion)")
            return
        }
        let text = value.scalar?.string ?? "?"
        guard let number = Amount.value(of: text, in: unit), range.contains(number) else {
            self.complain(
                key,
                "\(name) is \"\(text)\", but has to be a whole number from \(range.lowerBound) to "
                    + "\(range.upperBound)\(Amount.examples(in: unit))")
            return
        }
        quota[keyPath: path] = number
    }

    private mutating func complain(_ node: Node, _ problem: String) {
        let place = node.mark.map { ":\($0.line):\($0.column)" } ?? ""
        self.problems.append("\(self.path)\(place): \(problem)")
    }
}
