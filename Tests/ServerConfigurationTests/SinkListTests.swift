// The key `sinks`: several sinks at once.
internal import ConfigurationKeys
@testable internal import ServerConfiguration
internal import FileSinks
internal import SinkKit
internal import Testing
internal import TrackingJournal

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
        #expect(large.sinks.last?.journalSink.maxLagBytes == 1 << 30)
        let small = try await Configurations.read(assignments: [text, "journal.max_bytes=1000"])
        #expect(small.sinks.last?.journalSink.maxLagBytes == 500)
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
            (
                "[{type: sqlite, requird: true}]",
                "no key of a sink of the type sqlite; did you mean required?"
            ),
            (
                "[{type: sqlite}, {type: sqlite}]",
                "item 2 is the second sink with the name sqlite"
            ),
            (
                "[{type: stdout}, {type: stdout, name: b}]",
                "item 2 is the second sink of the type stdout"
            ),
            ("[{type: sqlite, name: A}]", "name of item 1 is \"A\", and has to be 1 to 32 of"),
            ("[{type: jsonl, max_byte: 5}]", "no key of a sink of the type jsonl; did you mean"),
            ("[{type: jsonl, max_bytes: x}]", "max_bytes of item 1 is \"x\", and has to be"),
            ("[{type: sqlite, filter: {}}]", "filter of item 1 has to have fields"),
            ("[{type: sqlite, filter: {not: x}}]", "filter of item 1: not has to have fields"),
            ("[{type: sqlite, filter: {tennant: x}}]", "no field of a hit; did you mean tenant?"),
            (
                "[{type: sqlite, filter: {not: {not: {kind: open}}}}]",
                "filter of item 1: not has \"not\", which is no field of a hit"
            ),
            (
                "[{type: sqlite, filter: {kind: [open, clik]}}]",
                "filter of item 1: kind is \"clik\", and has to be one of: impression, "
            ),
            ("[{type: sqlite, filter: {platform: iOS}}]", "did you mean ios?"),
            ("[{type: sqlite, filter: {tenant: []}}]", "tenant has to be a value, or a list of 1"),
            ("[{type: sqlite, filter: {tenant: ''}}]", "tenant has a value of 0 bytes"),
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
            ("[a, b]", "type of item 1 is \"?\""),
        ])
    func characters(_ type: String, _ rule: String) async throws {
        let problems = try await Configurations.problems(yaml: "sinks:\n  - type: \(type)")
        #expect(problems.count == 1 && problems.first?.contains(rule) == true, "\(problems)")
    }

    @Test("a sink has a name, a filter and keys of its type that hold for it alone")
    func ownKeys() async throws {
        let lines = """
            jsonl:
              max_bytes: 1000
            sinks:
              - type: jsonl
              - type: jsonl
                name: opens
                max_bytes: 2000
                filter:
                  kind: open
                  tenant: [a, 'b, c']
                  not: {platform: [ios]}
            """
        let configuration = try await Configurations.read(yaml: lines)
        let filter = HitFilter(
            only: [.kind: ["open"], .tenant: ["a", "b, c"]], not: [.platform: ["ios"]])
        let opens = ListedSink(
            .jsonl, name: "opens", filter: filter, settings: ["jsonl.max_bytes": "2000"])
        #expect(configuration.sinks == [ListedSink(.jsonl), opens])
        #expect(configuration.sinks.map(\.fileName) == ["hits", "hits-opens"])
        let bytes = configuration.sinks.map {
            $0.configuration(in: configuration)[JSONLinesConfiguration.self].maxBytes
        }
        #expect(bytes == [1000, 2000])
    }

    @Test("16 sinks are taken, and 17 are not", arguments: [(16, true), (17, false)])
    func sinkLimit(_ count: Int, isTaken: Bool) async throws {
        let items = (1...count).map { "{type: discard, name: sink-\($0)}" }.joined(separator: ", ")
        let problems = try await Configurations.problems(assignments: ["sinks=[\(items)]"])
        #expect(problems.isEmpty == isTaken, "\(problems)")
    }

    @Test(
        "a name of 32 bytes is taken, and one of 33 is not", arguments: [(32, true), (33, false)])
    func nameLimit(_ length: Int, isTaken: Bool) async throws {
        let name = String(repeating: "n", count: length)
        let problems = try await Configurations.problems(
            assignments: ["sinks=[{type: discard, name: \(name)}]"])
        #expect(problems.isEmpty == isTaken, "\(problems)")
    }

    @Test(
        "100 values of 256 bytes are a filter, and one more or one byte more is none",
        arguments: [(100, 256, true), (101, 256, false), (100, 257, false)])
    func filterLimits(_ count: Int, _ length: Int, isTaken: Bool) async throws {
        let values = (0..<count).map { index in
            String(repeating: "v", count: length - 3) + String(100 + index)
        }
        let text = "[{type: discard, filter: {app: [\(values.joined(separator: ", "))]}}]"
        let problems = try await Configurations.problems(assignments: ["sinks=\(text)"])
        #expect(problems.isEmpty == isTaken, "\(problems)")
    }

    @Test("a file whose aliases make a list of any length is refused, and quickly")
    func aliases() async throws {
        let level = Array(repeating: "*a", count: 100).joined(separator: ", ")
        let next = Array(repeating: "*b", count: 100).joined(separator: ", ")
        let problems = try await Configurations.problems(
            yaml: """
                sinks:
                  - &a {type: sqlite, name: '\(String(repeating: "x", count: 100))'}
                  - &b [\(level)]
                  - [\(next)]
                """)
        #expect(problems.contains { $0.contains("sinks is longer than 65536 bytes") })
    }

    #if NATS
    @Test("two sinks with one NATS stream stop the start, and a stream of its own does not")
    func streams() async throws {
        let one = "sinks=[{type: nats}, {type: nats, name: b}]"
        let problems = try await Configurations.problems(assignments: [one])
        #expect(problems.contains { $0.contains("two sinks have the stream") })
        let own = "sinks=[{type: nats}, {type: nats, name: b, stream: B, subject_prefix: b}]"
        #expect(try await Configurations.problems(assignments: [own]).isEmpty)
    }
    #endif

    #if PostgreSQL
    @Test("two sinks with one schema of a database stop the start, and a schema each does not")
    func schemas() async throws {
        let url = "postgresql.url=postgresql://a@b/c"
        let one = "sinks=[{type: postgresql}, {type: postgresql, name: b}]"
        let problems = try await Configurations.problems(assignments: [url, one])
        #expect(problems.contains { $0.contains("two sinks have the schema sightline") })
        let own = "sinks=[{type: postgresql}, {type: postgresql, name: b, schema: b}]"
        #expect(try await Configurations.problems(assignments: [url, own]).isEmpty)
    }
    #endif

    @Test("each webhook of a list is checked with its own keys")
    func webhooks() async throws {
        let shared = "webhook.secret_file=secret"
        let list = "sinks=[{type: webhook, url: 'https://a.example/'}, {type: webhook, name: b}]"
        let problems = try await Configurations.problems(assignments: [shared, list])
        #expect(problems.count == 1)
        #expect(problems.contains { $0.contains("webhook.url is \"\", but the webhook sink") })
        #expect(
            try await Configurations.problems(
                assignments: [shared, list, "webhook.url=https://b.example/"]
            ).isEmpty)
    }

    @Test("each grpc sink of a list is checked with its own keys")
    func grpcs() async throws {
        let list =
            "sinks=[{type: grpc, target: 'a.example:1'}, {type: grpc, name: b, target: '[::1]:1', "
            + "tls.roots: a.pem}]"
        let problems = try await Configurations.problems(assignments: [list])
        #expect(problems.count == 1)
        #expect(problems.contains { $0.contains("grpc.tls.roots is \"a.pem\", but is for TLS") })
    }

    @Test("sinks of one's own stand beside those of the list, each with a name of its own")
    func ownSinks() async throws {
        var configuration = ServerConfiguration()
        try configuration.add(ownSinks: ["mine", "other"])
        #expect(configuration.sinks.map(\.name) == ["mine", "other"])
        let loaded = try await Configurations.load(assignments: ["sinks=[{type: jsonl}]"])
        configuration = try loaded.result.get()
        try configuration.add(ownSinks: ["mine"])
        #expect(configuration.sinks.map(\.name) == ["jsonl", "mine"])
        for names in [["mine"], ["jsonl"], ["new", "new"], [""], ["A"], ["a b"]] {
            #expect(throws: ConfigurationError.self) { try configuration.add(ownSinks: names) }
        }
    }

    @Test("sink and sinks together stop the start")
    func both() async throws {
        let problems = try await Configurations.problems(
            flags: ["sink": "jsonl"], assignments: ["sinks=\(Self.text)"])
        #expect(problems.count == 1)
        #expect(problems.first?.contains("sink is set as well") == true)
    }
}
