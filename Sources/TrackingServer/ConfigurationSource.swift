// Where values come from: flags over the environment over a YAML file over the defaults.
internal import Configuration

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

    /// The configuration that the four sources give together.
    ///
    /// - Throws: `ConfigurationError` with every problem of every source.
    package func configuration() throws(ConfigurationError) -> ServerConfiguration {
        var problems = self.unknownVariables()
        var providers: [any ConfigProvider] = [
            InMemoryProvider(values: Self.values(self.flags)),
            EnvironmentVariablesProvider(environmentVariables: self.environment)
                .prefixKeys(with: "sightline"),
        ]
        if let path = self.file {
            let file = ConfigurationFile(path: path)
            problems += file.problems
            providers.append(InMemoryProvider(values: Self.values(file.values)))
        }
        let reader = ConfigReader(providers: providers)
        return try ServerConfiguration(ConfigurationValues(reader, problems: problems))
    }

    private static func values(_ texts: [String: String]) -> [AbsoluteConfigKey: ConfigValue] {
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, value) in texts {
            values[AbsoluteConfigKey(ConfigKey(name))] = ConfigValue(
                .string(value), isSecret: false)
        }
        return values
    }

    // MARK: Unknown names, which readers of configuration pass over

    private func unknownVariables() -> [String] {
        let known = ConfigurationKey.all.map(\.environmentVariable)
        return self.environment.keys.sorted().compactMap { name in
            guard name.hasPrefix("SIGHTLINE_"), !known.contains(name) else { return nil }
            return "\(name) in the environment sets nothing\(Self.suggestion(name, known))"
        }
    }

    /// The nearest of the names that are known, where one is near enough.
    static func suggestion(_ name: String, _ known: [String]) -> String {
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
