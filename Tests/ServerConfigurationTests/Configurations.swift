// Configurations as the tests of them write them: a value per source.
internal import ConfigurationKeys
internal import Foundation
@testable internal import ServerConfiguration
internal import TestSupport

enum Configurations {
    /// Loads the configuration from these sources; `yaml` becomes a file.
    static func load(
        flags: [String: String] = [:], assignments: [String] = [],
        environment: [String: String] = [:], yaml: String? = nil
    ) async throws -> LoadedConfiguration {
        try await TestDirectory.with { directory in
            let file = try yaml.map { text in
                let path = directory + "/sightline.yaml"
                try Data(text.utf8).write(to: URL(filePath: path))
                return path
            }
            return ConfigurationSource(
                flags: flags, assignments: assignments, environment: environment, file: file
            ).load()
        }
    }

    /// Reads the configuration from these sources.
    static func read(
        flags: [String: String] = [:], assignments: [String] = [],
        environment: [String: String] = [:], yaml: String? = nil
    ) async throws -> ServerConfiguration {
        try await Self.load(
            flags: flags, assignments: assignments, environment: environment, yaml: yaml
        ).result.get()
    }

    /// The problems that stop the start; none where it does not stop. Any other error is thrown on.
    static func problems(
        flags: [String: String] = [:], assignments: [String] = [],
        environment: [String: String] = [:], yaml: String? = nil
    ) async throws -> [String] {
        do {
            _ = try await Self.read(
                flags: flags, assignments: assignments, environment: environment, yaml: yaml)
            return []
        } catch let error as ConfigurationError {
            return error.problems
        }
    }

    /// Reads the configuration with a file that the test has made itself.
    static func read(
        flags: [String: String] = [:], environment: [String: String] = [:], file: String?
    ) throws -> ServerConfiguration {
        try ConfigurationSource(flags: flags, environment: environment, file: file).configuration()
    }
}

extension ConfigurationKey {
    /// A legal value that is not the default.
    var otherValue: String {
        switch self.standard {
        case .text: self.name == "listen" ? "127.0.0.2:7" : "/elsewhere"
        case .choice(let standard, let choices): choices.first { $0 != standard } ?? ""
        case .number(let standard, let range):
            String(standard == range.upperBound ? range.lowerBound : range.upperBound)
        case .flag(let standard): String(!standard)
        }
    }

    /// The number of sections that it stands in.
    var depth: Int { self.name.count { $0 == "." } }

    /// A value that it does not take; nil where it takes every text.
    var wrongValue: String? {
        switch self.standard {
        case .text(let standard): standard.isEmpty ? nil : ""
        case .choice, .flag: "perhaps"
        case .number: "many"
        }
    }

    /// Its name with one mistake each: a letter lost, doubled, exchanged, two swapped.
    var misspellings: [String] {
        var letters = Array(self.name)
        // A letter in the middle, and no dot: that would be a name of other sections.
        let middle = letters.count / 2
        let place = letters[middle] == "." ? middle + 1 : middle
        var misspellings: [String] = []
        misspellings.append(String(letters[..<place] + letters[(place + 1)...]))
        misspellings.append(String(letters[...place] + letters[place...]))
        letters.swapAt(0, 1)
        misspellings.append(String(letters))
        letters.swapAt(0, 1)
        letters[letters.count - 1] = letters.last == "q" ? "z" : "q"
        misspellings.append(String(letters))
        return misspellings
    }

    /// A YAML document that sets this key alone.
    func yaml(_ value: String) -> String {
        let parts = self.name.split(separator: ".")
        let lines = parts.enumerated().map { depth, part in
            String(repeating: "  ", count: depth) + part + ":"
        }
        return lines.joined(separator: "\n") + " \(value)\n"
    }
}
