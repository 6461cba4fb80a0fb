// Configurations as the tests of them write them: a value per source.
internal import Foundation

@testable internal import TrackingServer

enum Configurations {
    /// Reads the configuration from these sources; `yaml` becomes a file.
    static func read(
        flags: [String: String] = [:], environment: [String: String] = [:], yaml: String? = nil
    ) async throws -> ServerConfiguration {
        try await TestDirectory.with { directory in
            let file = try yaml.map { text in
                let path = directory + "/sightline.yaml"
                try Data(text.utf8).write(to: URL(filePath: path))
                return path
            }
            return try Self.read(flags: flags, environment: environment, file: file)
        }
    }

    /// The problems that stop the start; none where it does not stop. Any other error is thrown on.
    static func problems(
        flags: [String: String] = [:], environment: [String: String] = [:], yaml: String? = nil
    ) async throws -> [String] {
        do {
            _ = try await Self.read(flags: flags, environment: environment, yaml: yaml)
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

    /// The default, as a person would write it.
    var standardValue: String {
        switch self.standard {
        case .text(let value), .choice(let value, _): value
        case .number(let value, _): String(value)
        case .flag(let value): String(value)
        }
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
