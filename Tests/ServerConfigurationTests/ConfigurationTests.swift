// Where values come from, and what is said of wrong ones.
internal import CampaignSink
internal import ConfigurationKeys
internal import FileSinks
internal import Foundation
internal import GRPCSink
internal import KafkaSink
internal import NATSSink
internal import PostgreSQLSink
internal import SQLiteSink
@testable internal import ServerConfiguration
internal import SinkKit
internal import Testing
internal import WebhookSink

struct ConfigurationTests {
    private static let numbers = ServerConfiguration.keys.compactMap { key in
        if case .number(_, let range) = key.standard { return (key.name, range) }
        return nil
    }

    /// The whole configuration as text: two that differ in any value differ in it.
    private func text(_ configuration: ServerConfiguration) -> String {
        /// Nil if it has only default values, as that of a type that was never set.
        func text<Keys: SinkConfiguration>(ofSink keys: Keys) -> String? {
            let text = String(reflecting: keys)
            return text == String(reflecting: Keys()) ? nil : text
        }
        // A dictionary has no order.
        var others = configuration
        others.sinkConfigurations = [:]
        let sinks = configuration.sinkConfigurations.values.compactMap { text(ofSink: $0) }
        return ([String(reflecting: others)] + sinks.sorted()).joined(separator: "\n")
    }

    private func key(_ name: String) throws -> ServerConfiguration.Key {
        try #require(ServerConfiguration.keys.first { $0.name == name })
    }

    @Test("nothing set: the defaults, which are those of the table too")
    func defaults() async throws {
        let standard = self.text(ServerConfiguration())
        #expect(self.text(try await Configurations.read()) == standard)
        var flags: [String: String] = [:]
        for key in ServerConfiguration.keys { flags[key.name] = key.standardText }
        #expect(self.text(try await Configurations.read(flags: flags)) == standard)
    }

    @Test("every key is read", arguments: ServerConfiguration.keys.map(\.name))
    func reading(_ name: String) async throws {
        let key = try self.key(name)
        let loaded = try await Configurations.load(flags: [name: key.otherValue])
        switch loaded.result {
        case .success(let configuration):
            #expect(
                self.text(configuration) != self.text(ServerConfiguration()),
                "setting \(name) changes nothing")
        case .failure(let error):
            // Some keys make sense only beside others, and say which.
            #expect(!key.takes("") || key.standardText.isEmpty)
            #expect(error.problems.allSatisfy { $0.contains(key.section) }, "\(error)")
        }
    }

    @Test(
        "flag over environment over file over default, and each is said to be the origin",
        arguments: ServerConfiguration.keys.map(\.name))
    func precedence(_ name: String) async throws {
        let key = try self.key(name)
        let (standard, other) = (key.standardText, key.otherValue)
        let variable = key.environmentVariable
        let cases: [(flag: String?, set: String?, variable: String?, file: String?)] = [
            (nil, nil, nil, nil), (nil, nil, nil, other), (nil, nil, other, nil),
            (nil, nil, other, standard), (nil, nil, standard, other), (other, nil, standard, nil),
            (standard, nil, other, other), (standard, nil, nil, other), (nil, other, standard, nil),
            (nil, standard, other, other), (nil, standard, nil, other),
        ]
        for row in cases {
            let loaded = try await Configurations.load(
                flags: row.flag.map { [name: $0] } ?? [:],
                assignments: row.set.map { ["\(name)=\($0)"] } ?? [],
                environment: row.variable.map { [variable: $0] } ?? [:],
                yaml: row.file.map { key.yaml($0) })
            let setting = try #require(loaded.settings.first { $0.key.name == name })
            let expected = row.flag ?? row.set ?? row.variable ?? row.file ?? standard
            #expect(setting.text == expected, "\(row)")
            switch setting.origin {
            case .flag(let flag): #expect(flag == "--set" ? row.set != nil : row.flag != nil)
            case .environment(let name):
                #expect(name == variable && row.flag == nil && row.set == nil)
            case .file(_, let line, let column):
                #expect(line == key.depth + 1 && column == 2 * key.depth + 1)
                #expect(row.file != nil && row.variable == nil && row.flag == nil)
            case .standard: #expect(row == (nil, nil, nil, nil))
            }
            #expect(loaded.settings.count == ServerConfiguration.keys.count)
        }
    }

    @Test("a number is taken at both ends of its range, and refused one beyond", arguments: numbers)
    func ranges(_ name: String, _ range: ClosedRange<Int>) async throws {
        let key = try self.key(name)
        let variable = key.environmentVariable
        for value in [range.lowerBound, range.upperBound] {
            let problems = try await Configurations.problems(flags: [name: "\(value)"])
            #expect(!problems.contains { $0.contains("whole number") })
            let loaded = try await Configurations.load(yaml: key.yaml("\(value)"))
            #expect(loaded.settings.first { $0.key.name == name }?.text == "\(value)")
        }
        for value in [range.lowerBound - 1, range.upperBound + 1] {
            let bounds = "from \(range.lowerBound) to \(range.upperBound)"
            for problems in [
                try await Configurations.problems(flags: [name: "\(value)"]),
                try await Configurations.problems(yaml: key.yaml("\(value)")),
                try await Configurations.problems(environment: [variable: "\(value)"]),
            ] {
                #expect(problems.count == 1)
                #expect(problems.first?.contains(": \(name) is \"\(value)\"") == true)
                #expect(problems.first?.contains(bounds) == true)
            }
        }
    }

    @Test(
        "a value of a wrong type is a problem, whichever source it is in",
        arguments: [
            ("limits.request_events", "ten"), ("limits.request_events", "1.5"),
            ("limits.request_events", "true"), ("limits.request_events", "99999999999999999999"),
            ("rules.record_test_messages", "1"), ("rules.record_test_messages", "yes please"),
            ("sink", "natz"), ("sink", "SQLite"), ("log.level", "loud"), ("journal.mode", "ram"),
            ("rules.default_consent", "optedin"), ("sink", "1"), ("listen", "true"),
        ])
    func wrongType(_ name: String, _ value: String) async throws {
        let key = try self.key(name)
        let variable = key.environmentVariable
        for problems in [
            try await Configurations.problems(flags: [name: value]),
            try await Configurations.problems(environment: [variable: value]),
            try await Configurations.problems(yaml: key.yaml(value)),
        ] {
            #expect(problems.count == 1)
            #expect(problems.first?.contains("\(name) is \"\(value)\"") == true)
        }
    }

    @Test("an empty value is a value: it is refused", arguments: ["limits.request_events", "sink"])
    func empty(_ name: String) async throws {
        let variable = try self.key(name).environmentVariable
        #expect(try await Configurations.problems(environment: [variable: ""]).count == 1)
        #expect(try await Configurations.problems(flags: [name: ""]).count == 1)
    }

    @Test(
        "an address is taken apart",
        arguments: [
            ("127.0.0.1:0", "127.0.0.1", 0), ("0.0.0.0:65535", "0.0.0.0", 65535),
            ("[::1]:50051", "::1", 50051),
        ])
    func address(_ text: String, _ host: String, _ port: Int) async throws {
        let configuration = try await Configurations.read(
            flags: ["listen": text, "allow_insecure": "true"])
        #expect(configuration.host == host && configuration.port == port)
    }

    @Test(
        "a bad address is a problem that shows it",
        arguments: [
            "", "127.0.0.1", ":50051", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
            "127.0.0.1:http", "::1:50051", "[::1]", "[]:1", "[::1:5", "::1]:5", "localhost:1",
            "127.0.0.256:1", "[fe80::zz]:1",
        ])
    func badAddress(_ text: String) async throws {
        let problems = try await Configurations.problems(flags: ["listen": text])
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("--listen: listen is \"\(text)\"") == true)
    }

    @Test("an unknown variable of ours is a problem, with the nearest right name")
    func unknownVariable() async throws {
        let problems = try await Configurations.problems(
            environment: ["SIGHTLINE_LISTN": "127.0.0.1:1", "LISTN": "x", "PATH": "/bin"])
        #expect(
            problems == [
                "SIGHTLINE_LISTN in the environment sets nothing; did you mean SIGHTLINE_LISTEN?"
            ])
    }

    @Test("all problems are told at once, those of every source")
    func allAtOnce() async throws {
        let problems = try await Configurations.problems(
            flags: ["listen": "nowhere", "drain.seconds": "21"],
            environment: ["SIGHTLINE_SINK": "natz", "SIGHTLINE_NOTHING_LIKE_IT_AT_ALL": ""],
            yaml: "limits:\n  event_bytes: 0\n  event_byte: 1\n")
        for part in [
            "listen is", "drain.seconds is", "sink is", "limits.event_bytes is",
            "SIGHTLINE_NOTHING_LIKE_IT_AT_ALL", "limits.event_byte is no key",
        ] {
            #expect(problems.contains { $0.contains(part) }, "\(part) is not in \(problems)")
        }
        #expect(problems.count == 6)
    }
}
