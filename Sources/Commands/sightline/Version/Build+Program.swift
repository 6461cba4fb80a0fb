internal import Telemetry

extension Build {
    /// This program's; the plugin writes `BuildFacts`.
    static let program = Build(
        version: BuildFacts.version, commit: BuildFacts.commit,
        modified: BuildFacts.isModified, swift: BuildFacts.swift, traits: Self.enabledTraits)

    /// One line for people.
    var line: String {
        let commit = self.commit == "unknown" ? self.commit : String(self.commit.prefix(12))
        let state = self.modified == true ? ", modified" : ""
        let traits = self.traits.isEmpty ? "none" : self.traits.joined(separator: ", ")
        return "sightline \(self.version) (commit \(commit)\(state); Swift \(self.swift); "
            + "traits: \(traits))"
    }

    private static var enabledTraits: [String] {
        var traits: [String] = []
        #if Kafka
        traits.append("Kafka")
        #endif
        #if NATS
        traits.append("NATS")
        #endif
        #if PostgreSQL
        traits.append("PostgreSQL")
        #endif
        return traits
    }
}
