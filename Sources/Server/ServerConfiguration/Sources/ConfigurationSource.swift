// Where values come from: flags over the environment over a YAML file over OpenTelemetry's
// variables over the defaults.
package import ConfigurationKeys
internal import WireFormat

/// The five sources, read once at start, and again at each reload.
package struct ConfigurationSource: Sendable {
    private let flags: [String: String]
    private let assignments: [String]
    private let environment: [String: String]
    private let file: String?

    /// Sources of a process.
    ///
    /// - Parameters:
    ///   - flags: values by key name, of keys that have a flag of their own.
    ///   - assignments: what was given to `--set`, as in `limits.request_bytes=1000`.
    ///   - environment: the process's variables; those of other programs are passed over.
    ///   - file: path of a YAML file.
    package init(
        flags: [String: String] = [:], assignments: [String] = [],
        environment: [String: String] = [:], file: String? = nil
    ) {
        self.flags = flags
        self.assignments = assignments
        self.environment = environment
        self.file = file
    }

    /// The configuration that the five sources give together.
    ///
    /// - Throws: `ConfigurationError` with every problem of every source.
    package func configuration() throws(ConfigurationError) -> ServerConfiguration {
        try self.load().result.get()
    }

    /// Every key's value with its place, whether or not a server could start with them.
    package func load() -> LoadedConfiguration {
        var problems = self.unknownVariables()
        let set = self.assigned(&problems)
        let file = self.file.map { ConfigurationFile(path: $0) }
        problems += file?.problems ?? []
        let standard = OpenTelemetryVariables(self.environment)
        let layers: [Layer] = [
            Layer(text: { self.flags[$0.name] }, origin: { .flag(Self.flag(of: $0)) }),
            Layer(text: { set[$0.name] }, origin: { _ in .flag("--set") }),
            Layer(
                text: { self.environment[$0.environmentVariable] },
                origin: { .environment($0.environmentVariable) }),
            Layer(
                text: { file?.texts[$0.name] }, origin: { file?.places[$0.name] ?? .standard }),
            Layer(
                text: { standard.values[$0.name]?.text },
                origin: { key in
                    standard.values[key.name].map { .environment($0.variable) } ?? .standard
                }),
        ]
        let settings = ServerConfiguration.keys.map { key in
            for layer in layers {
                if let setting = layer.setting(key) { return setting }
            }
            return ConfigurationSetting(key: key, text: key.standardText, origin: .standard)
        }
        return LoadedConfiguration(
            ConfigurationValues(settings, problems: problems), warnings: standard.warnings)
    }

    /// One source: what it has set, and where.
    private struct Layer {
        let text: (ServerConfiguration.Key) -> String?
        let origin: (ServerConfiguration.Key) -> ConfigurationOrigin

        func setting(_ key: ServerConfiguration.Key) -> ConfigurationSetting? {
            self.text(key).map {
                ConfigurationSetting(key: key, text: $0, origin: self.origin(key))
            }
        }
    }

    /// The flag that sets a key: its name, but for the two addresses that have a shorter one.
    private static func flag(of key: ServerConfiguration.Key) -> String {
        let short = ["admin.listen": "--admin", "http.listen": "--http"]
        if let flag = short[key.name] { return flag }
        return "--" + key.name.map { $0 == "." || $0 == "_" ? "-" : "\($0)" }.joined()
    }

    // MARK: What sets nothing, which readers of configuration pass over

    private func assigned(_ problems: inout [String]) -> [String: String] {
        let known = ServerConfiguration.keys.map(\.name)
        var set: [String: String] = [:]
        for assignment in self.assignments {
            let parts = assignment.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            if !known.contains(name) {
                let suggestion = NearestName.suggestion(for: name, among: known)
                problems.append("--set: \(name) is no key\(suggestion)")
            } else if parts.count == 1 {
                problems.append("--set: \(name) needs a value, as in \(name)=VALUE")
            } else if set[name] != nil || self.flags[name] != nil {
                problems.append("--set: \(name) is given twice, by flags: which one holds?")
            } else {
                set[name] = String(parts[1])
            }
        }
        return set
    }

    private func unknownVariables() -> [String] {
        let known = ServerConfiguration.keys.map(\.environmentVariable)
        return self.environment.keys.sorted().compactMap { name in
            guard name.hasPrefix("SIGHTLINE_"), !known.contains(name), !Self.isServiceLink(name)
            else { return nil }
            let suggestion = NearestName.suggestion(for: name, among: known)
            return "\(name) in the environment sets nothing\(suggestion)"
        }
    }

    /// Whether Kubernetes sets this variable in every container beside a service of our name.
    private static func isServiceLink(_ name: String) -> Bool {
        name == "SIGHTLINE_PORT" || name.hasPrefix("SIGHTLINE_PORT_")
            || name.hasPrefix("SIGHTLINE_SERVICE_")
    }
}
