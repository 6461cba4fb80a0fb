// What is said of a YAML file that cannot be used, or not whole.
internal import ConfigurationKeys
internal import Foundation
@testable internal import ServerConfiguration
internal import TestSupport
internal import Testing
internal import TrackingRules

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

    @Test(
        "what is not YAML is a problem with its place",
        arguments: [
            ("sink: [sqlite\n", ":2:1: this is not YAML"),
            ("sink: a: b\n", ":1:8: this is not YAML"),
            ("limits:\n\tevent_bytes: 1\n", ":2:1: a tab begins this line"),
            ("limits:\n  \tevent_bytes: 1\n", ":2:3: a tab begins this line"),
            ("sink: sqlite\nlisten: \u{1}\n", ":2:9: this is not YAML"),
            ("sink: *nothing\n", ":1:7: this is not YAML"),
            ("sink: sqlite\n---\nsink: jsonl\n", ":2:1: this is not YAML"),
            ("sink: jsonl\nlisten: x\nsink: sqlite\n", ":3:1: sink is given twice, first in"),
            (
                "limits:\n  event_bytes: 1\n  \"event_bytes\": 2\n",
                ":3:3: event_bytes is given twice, first in line 2"
            ),
            ("limits: {event_bytes: 1, event_bytes: 2}\n", ":1:10: event_bytes is given twice"),
            ("- sink\n", ":1:1: keys and values are needed"),
            (String(repeating: "[", count: 20_000), ":1:1: this is not YAML: Maximum nest"),
        ])
    func notYAML(_ text: String, _ problem: String) async throws {
        let problems = try await self.problems(ofFile: Array(text.utf8))
        #expect(problems.count == 1)
        #expect(problems.first?.contains("sightline.yaml\(problem)") == true, "\(problems)")
    }

    @Test("each key that is given twice is told")
    func twice() async throws {
        let problems = try await self.problems(
            ofFile: Array("sink: a\nlisten: b\nsink: c\nlisten: d\n".utf8))
        #expect(problems.count == 2)
    }

    @Test("a key in lines and with dots is told, and the lines hold")
    func nestedAndDotted() async throws {
        let problems = try await self.problems(
            ofFile: Array("limits:\n  event_bytes: 1\nlimits.event_bytes: 2\n".utf8))
        #expect(problems.count == 1)
        #expect(problems.first?.contains(":3:1: limits.event_bytes has to be written") == true)
    }

    @Test("a byte order mark is no part of the first key")
    func byteOrderMark() async throws {
        let text = Array("sink: jsonl\n".utf8)
        #expect(try await Configurations.read(yaml: "\u{FEFF}sink: jsonl\n").sink == .jsonl)
        let wide: [UInt8] = [0xff, 0xfe] + text.flatMap { byte -> [UInt8] in [byte, 0] }
        let problems = try await self.problems(ofFile: wide)
        #expect(problems.first?.contains("is not UTF-8") == true)
    }

    @Test("a file is read up to its limit, and refused one byte beyond")
    func size() async throws {
        let text = Array("sink: jsonl\n#".utf8)
        let padding = Array(repeating: UInt8(ascii: "x"), count: (256 << 10) - text.count)
        let whole = String(decoding: text + padding, as: UTF8.self)
        #expect(try await Configurations.read(yaml: whole).sink == .jsonl)
        let problems = try await self.problems(ofFile: text + padding + [0x78])
        #expect(problems.first?.contains("at most 262144") == true)
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
            ("limts:\n  event_bytes: 1\n", ":1:1: limts is no key; did you mean limits?"),
            ("? [a]\n: 1\n", ":1:3: ? is no key"),
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
        #expect(configuration.limits.eventBytes == 100 && configuration.sink == .jsonl)
    }
}
