// The key `sinks`: several sinks at once.
internal import Testing
internal import TrackingJournal
internal import TrackingSinks

@testable internal import ServerConfiguration

struct SinkListTests {
    private static let both = [
        ListedSink(.sqlite),
        ListedSink(.jsonl, maxLagBytes: 5000, start: .newest, isPaused: true),
    ]
    private static let text =
        "[{type: sqlite}, {type: jsonl, required: false, max_lag_bytes: 5000, from: newest, "
        + "paused: true}]"

    @Test("a list in lines of a file, in one line, in the environment and by a flag is the same")
    func sources() async throws {
        let lines = """
            sinks:
              - type: sqlite
              - type: jsonl
                required: false
                max_lag_bytes: 5000
                from: newest
                paused: true
            """
        for yaml in [lines, "sinks: \(Self.text)"] {
            #expect(try await Configurations.read(yaml: yaml).sinks == Self.both)
        }
        let environment = ["SIGHTLINE_SINKS": Self.text]
        #expect(try await Configurations.read(environment: environment).sinks == Self.both)
        let set = try await Configurations.read(assignments: ["sinks=\(Self.text)"])
        #expect(set.sinks == Self.both)
    }

    @Test("without a list there is one required sink, the one of the key `sink`")
    func shortForm() async throws {
        #expect(try await Configurations.read().sinks == [ListedSink(.sqlite)])
        let jsonl = try await Configurations.read(flags: ["sink": "jsonl"])
        #expect(jsonl.sinks == [ListedSink(.jsonl)])
    }

    @Test("the lag of a sink that is not required is 1 GiB, or half of a smaller journal")
    func standardLag() async throws {
        let text = "sinks=[{type: sqlite}, {type: discard, required: false}]"
        let large = try await Configurations.read(assignments: [text])
        #expect(large.sinks.last?.maxLagBytes == 1 << 30)
        let small = try await Configurations.read(assignments: [text, "journal.max_bytes=1000"])
        #expect(small.sinks.last?.maxLagBytes == 500)
    }

    @Test("max_lag_bytes is at most half of the journal", arguments: [(500, true), (501, false)])
    func lagLimit(_ bytes: Int, isTaken: Bool) async throws {
        let problems = try await Configurations.problems(assignments: [
            "sinks=[{type: sqlite}, {type: jsonl, required: false, max_lag_bytes: \(bytes)}]",
            "journal.max_bytes=1000",
        ])
        #expect(problems.isEmpty == isTaken, "\(problems)")
    }

    @Test(
        "a wrong list stops the start, and says which item is wrong, and how",
        arguments: [
            ("sqlite", "it has to be a list, as in [{type: sqlite}"),
            ("[]", "it has to be a list"),
            ("[sqlite]", "item 1 has to have keys, as in {type: sqlite}"),
            ("[{type: sqlit}]", "type of item 1 is \"sqlit\", and has to be one of: "),
            ("[{type: sqlit}]", "did you mean sqlite?"),
            ("[{required: true}]", "item 1 has no type"),
            ("[{type: sqlite, requird: true}]", "\"requird\", which is no key of a sink; did you"),
            ("[{type: sqlite}, {type: sqlite}]", "item 2 is the second sink of the type sqlite"),
            ("[{type: sqlite, required: false}]", "at least one sink has to be required"),
            ("[{type: sqlite, required: maybe}]", "required of item 1 is \"maybe\""),
            ("[{type: sqlite, from: first}]", "from of item 1 is \"first\""),
            ("[{type: sqlite, paused: maybe}]", "paused of item 1 is \"maybe\""),
            ("[{type: sqlite, max_lag_bytes: 5}]", "item 1 has max_lag_bytes, but is required"),
            (
                "[{type: sqlite}, {type: jsonl, required: false, max_lag_bytes: 0}]",
                "max_lag_bytes of item 2 is \"0\""
            ),
        ])
    func wrong(_ text: String, _ rule: String) async throws {
        let problems = try await Configurations.problems(assignments: ["sinks=\(text)"])
        #expect(problems.contains { $0.contains("--set: sinks is ") && $0.contains(rule) })
    }

    @Test(
        "what a file's list holds is what is checked, whatever its characters mean to YAML",
        arguments: [
            ("'sqlite, required: false'", "type of item 1 is \"sqlite, required: false\""),
            ("\"it's\"", "type of item 1 is \"it's\""),
            ("[a, b]", "type of item 1 is \"(nested)\""),
        ])
    func characters(_ type: String, _ rule: String) async throws {
        let problems = try await Configurations.problems(yaml: "sinks:\n  - type: \(type)")
        #expect(problems.count == 1 && problems.first?.contains(rule) == true, "\(problems)")
    }

    @Test("sink and sinks together stop the start")
    func both() async throws {
        let problems = try await Configurations.problems(
            flags: ["sink": "jsonl"], assignments: ["sinks=\(Self.text)"])
        #expect(problems.count == 1)
        #expect(problems.first?.contains("sink is set as well") == true)
    }
}
