// What is said of a YAML file that cannot be used, or not whole.
internal import Foundation
internal import Testing
internal import TrackingCore

@testable internal import TrackingServer

struct ConfigurationFileTests {
    private func problems(ofFile bytes: [UInt8]) async throws -> [String] {
        try await TestDirectory.with { directory in
            let path = directory + "/sightline.yaml"
            try Data(bytes).write(to: URL(filePath: path))
            return self.problems(path)
        }
    }

    private func problems(_ path: String) -> [String] {
        #expect(throws: ConfigurationError.self) {
            _ = try Configurations.read(file: path)
        }?.problems ?? []
    }

    @Test("a file that is missing, or is a directory, is named")
    func unreadable() async throws {
        let missing = self.problems("/nowhere/sightline.yaml")
        #expect(missing.count == 1 && missing.first?.hasPrefix("/nowhere/sightline.yaml") == true)
        try await TestDirectory.with { directory in
            #expect(self.problems(directory).first?.hasPrefix(directory) == true)
        }
    }

    @Test(
        "a file that is no YAML mapping is a problem",
        arguments: [
            "sink: [sqlite", "- sink\n- sqlite\n", "sqlite", "sink: a: b\n", "\tsink: sqlite\n",
            "sink: jsonl\nsink: sqlite\n", "sink: sqlite\n---\nsink: jsonl\n",
        ])
    func noMapping(_ text: String) async throws {
        let problems = try await self.problems(ofFile: Array(text.utf8))
        #expect(problems.count == 1)
        #expect(problems.first?.contains("sightline.yaml") == true)
    }

    @Test("bytes that are no UTF-8 are a problem")
    func notText() async throws {
        #expect(try await self.problems(ofFile: [0x73, 0xff, 0xfe, 0x00]).count == 1)
    }

    @Test("a file without keys sets nothing", arguments: ["", "# nothing yet\n", "{}\n", "---\n"])
    func noKeys(_ text: String) async throws {
        #expect(try await Configurations.problems(yaml: text) == [])
    }

    @Test(
        "an unknown key is a problem with its place and the nearest right name",
        arguments: [
            ("snk: sqlite\n", ":1:1: snk is no key; did you mean sink?"),
            (
                "sink: sqlite\nlimits:\n  event_byte: 1\n",
                ":3:3: limits.event_byte is no key; did you mean limits.event_bytes?"
            ),
            ("zzzzzzzzzzzzzzzz: 1\n", ":1:1: zzzzzzzzzzzzzzzz is no key"),
            ("limits:\n  a:\n    b: 1\n", ":2:3: limits.a is no key"),
            ("sink:\n  name: sqlite\n", ":1:1: sink has to have one value"),
            ("limits: 5\n", ":1:1: limits holds keys"),
            ("1: 2\n", ":1:1: 1 is no key"),
        ])
    func unknownKey(_ text: String, _ problem: String) async throws {
        let problems = try await self.problems(ofFile: Array(text.utf8))
        #expect(problems.count == 1)
        #expect(problems.first?.contains("sightline.yaml\(problem)") == true, "\(problems)")
    }

    @Test(
        "a known key with a list or with nothing is a problem, and not passed over",
        arguments: [
            "limits:\n  event_bytes: [1, 2]\n", "limits:\n  event_bytes:\n", "sink: ~\n",
            "sink: [sqlite]\n", "rules:\n  record_test_messages: [true]\n", "data_dir: []\n",
        ])
    func noValue(_ text: String) async throws {
        #expect(try await self.problems(ofFile: Array(text.utf8)).count == 1)
    }

    @Test("a key may not be written with its dots: it is a problem, and not passed over")
    func dotted() async throws {
        let problems = try await self.problems(ofFile: Array("limits.event_bytes: 100\n".utf8))
        #expect(problems.count == 1)
    }

    @Test("quoted values are values")
    func quoted() async throws {
        let configuration = try await Configurations.read(
            yaml: "limits: {event_bytes: \"100\"}\nsink: 'jsonl'\n")
        #expect(configuration.limits.eventBytes == 100 && configuration.sink == "jsonl")
    }
}
