// Where values come from: flags over the environment over a YAML file over the defaults.
package import Configuration
internal import Foundation
internal import SystemPackage
internal import Yams

/// The four sources, read once at start.
package struct ConfigurationSource: Sendable {
    private let flags: [String: String]
    private let environment: [String: String]
    private let file: String?

    /// Sources of a process.
    ///
    /// - Parameters:
    ///   - flags: values by key name.
    ///   - environment: the process's variables; those of other programs are passed over.
    ///   - file: path of a YAML file.
    package init(
        flags: [String: String] = [:], environment: [String: String] = [:], file: String? = nil
    ) {
        self.flags = flags
        self.environment = environment
        self.file = file
    }

    /// A reader over the four sources.
    ///
    /// - Throws: `ConfigurationError` where the file cannot be read, or holds unknown keys.
    package func reader() async throws -> ConfigReader {
        var problems = self.unknownVariables()
        var providers: [any ConfigProvider] = [
            InMemoryProvider(values: Self.values(self.flags)),
            EnvironmentVariablesProvider(environmentVariables: self.environment)
                .prefixKeys(with: "sightline"),
        ]
        if let file = self.file {
            problems += try Self.unknownKeys(inFile: file)
            providers.append(try await FileProvider<YAMLSnapshot>(filePath: .init(file)))
        }
        guard problems.isEmpty else { throw ConfigurationError(problems) }
        return ConfigReader(providers: providers)
    }

    private static func values(_ flags: [String: String]) -> [AbsoluteConfigKey: ConfigValue] {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, value) in flags {
            values[AbsoluteConfigKey(ConfigKey(name))] = ConfigValue(
                .string(value), isSecret: false)
        }
        return values
    }

    // MARK: Unknown keys, which the readers of configuration pass over

    private func unknownVariables() -> [String] {
        let known = ConfigurationKey.all.map(\.environmentVariable)
        return self.environment.keys.sorted().compactMap { name in
            guard name.hasPrefix("SIGHTLINE_"), !known.contains(name) else { return nil }
            return "\(name) in the environment sets nothing\(Self.suggestion(name, known))"
        }
    }

    private static func unknownKeys(inFile path: String) throws -> [String] {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw ConfigurationError(["\(path) cannot be read: check that it is there, and UTF-8"])
        }
        do {
            guard let root = try Yams.compose(yaml: text) else { return [] }
            guard let mapping = root.mapping else {
                return ["\(path): keys and values are needed, as in \"sink: sqlite\""]
            }
            return Self.unknownKeys(in: mapping, path: path, prefix: "")
        } catch {
            throw ConfigurationError(["\(path) is not YAML: \(error)"])
        }
    }

    private static func unknownKeys(
        in mapping: Node.Mapping, path: String, prefix: String
    ) -> [String] {
        let known = ConfigurationKey.all.map(\.name)
        return mapping.flatMap { key, value -> [String] in
            let name = prefix + (key.string ?? "?")
            if let section = value.mapping, known.contains(where: { $0.hasPrefix(name + ".") }) {
                return Self.unknownKeys(in: section, path: path, prefix: name + ".")
            }
            if known.contains(name), value.mapping == nil { return [] }
            let place = key.mark.map { ":\($0.line):\($0.column)" } ?? ""
            return ["\(path)\(place): \(name) is no key\(Self.suggestion(name, known))"]
        }
    }

    private static func suggestion(_ name: String, _ known: [String]) -> String {
        let nearest = known.min { EditDistance.between(name, $0) < EditDistance.between(name, $1) }
        guard let nearest, EditDistance.between(name, nearest) <= 1 + name.count / 3 else {
            return ""
        }
        return "; did you mean \(nearest)?"
    }
}

/// How many letters have to change to make one word of another (Levenshtein).
enum EditDistance {
    static func between(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (index, letter) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let change = diagonal + (letter == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(change, row[column] + 1, row[column + 1] + 1)
            }
        }
        return row[right.count]
    }
}
