// Wrong configurations, several for every key there is: each is one problem, with its place, the
// key and what is right.
internal import ConfigurationKeys
@testable internal import ServerConfiguration
internal import Testing
internal import TrackingJournal

struct ConfigurationProblemTests {
    private func key(_ name: String) throws -> ServerConfiguration.Key {
        try #require(ServerConfiguration.keys.first { $0.name == name })
    }

    private func problem(
        assignments: [String] = [], environment: [String: String] = [:], yaml: String? = nil
    ) async throws -> String {
        let problems = try await Configurations.problems(
            assignments: assignments, environment: environment, yaml: yaml)
        #expect(problems.count == 1, "\(problems)")
        return problems.first ?? ""
    }

    @Test(
        "every key, misspelt, is a problem that names the right one, in each source",
        arguments: ServerConfiguration.keys.map(\.name))
    func misspelt(_ name: String) async throws {
        let key = try self.key(name)
        for misspelt in key.misspellings {
            let set = try await self.problem(assignments: ["\(misspelt)=1"])
            #expect(set == "--set: \(misspelt) is no key; did you mean \(name)?")
            // In a file, the outermost wrong part is reported.
            let wrong = ServerConfiguration.Key("\(misspelt)", .flag(false), "")
            let file = try await self.problem(yaml: wrong.yaml("1"))
            #expect(file.contains("sightline.yaml:"))
            #expect(file.contains(" is no key; did you mean "), "\(file)")
            let variable = wrong.environmentVariable
            let environment = try await self.problem(environment: [variable: "1"])
            let right = key.environmentVariable
            #expect(
                environment
                    == "\(variable) in the environment sets nothing; did you mean \(right)?")
        }
    }

    @Test(
        "a misspelt last part in a file is told with its place",
        arguments: ServerConfiguration.keys)
    func misspeltInFile(_ key: ServerConfiguration.Key) async throws {
        // Before the last letter: with one after it, sink would be as near to sinks.
        let misspelt = key.name.dropLast() + "x" + key.name.suffix(1)
        let wrong = ServerConfiguration.Key(String(misspelt), .flag(false), "")
        let problem = try await self.problem(yaml: wrong.yaml("1"))
        let place = "\(key.depth + 1):\(2 * key.depth + 1)"
        #expect(
            problem.hasSuffix(":\(place): \(wrong.name) is no key; did you mean \(key.name)?"))
    }

    @Test(
        "every key refuses a value of a wrong type, in each source, and says what it takes",
        arguments: ServerConfiguration.keys.filter { $0.wrongValue != nil })
    func wrongType(_ key: ServerConfiguration.Key) async throws {
        let value = try #require(key.wrongValue)
        let ending = "\(key.name) is \"\(value)\", but has to be \(key.rule)"
        let set = try await self.problem(assignments: ["\(key.name)=\(value)"])
        #expect(set == "--set: " + ending)
        let variable = key.environmentVariable
        let environment = try await self.problem(environment: [variable: value])
        #expect(environment == "\(variable): " + ending)
        let file = try await self.problem(yaml: key.yaml("\"\(value)\""))
        #expect(file.hasSuffix(":\(key.depth + 1):\(2 * key.depth + 1): " + ending))
    }

    @Test(
        "every key refuses a list, nothing, and a section of its own, but for the keys of lists",
        arguments: ServerConfiguration.keys.filter { $0.unit != "list" },
        ["[1, 2]", "", "~", "{a: 1}", "\n    - 1"])
    func noValue(_ key: ServerConfiguration.Key, _ value: String) async throws {
        let problem = try await self.problem(yaml: key.yaml(value))
        #expect(problem.hasSuffix(": \(key.name) has to have one value"), "\(problem)")
    }

    @Test("no text takes control characters", arguments: ["a\nb", "a\u{0}", "\u{1B}[31m"])
    func controlCharacters(_ value: String) async throws {
        let problem = try await self.problem(environment: ["SIGHTLINE_DATA_DIR": value])
        #expect(problem.contains("data_dir is"))
    }

    @Test("a key that flags give twice is a problem, as is one without a value")
    func assignments() async throws {
        let twice = try await self.problem(assignments: ["sink=jsonl", "sink=jsonl"])
        #expect(twice.contains("--set: sink is given twice"))
        let both = try await Configurations.problems(
            flags: ["sink": "jsonl"], assignments: ["sink=discard"])
        #expect(both.count == 1 && both.first?.contains("sink is given twice") == true)
        #expect(try await self.problem(assignments: ["sink"]).contains("sink needs a value"))
        #expect(try await self.problem(assignments: [""]).contains("is no key"))
        let text = try await Configurations.read(assignments: ["data_dir=a=b"])
        #expect(text.dataDirectory == "a=b")
    }

    @Test("what Kubernetes sets for a service of our name is passed over")
    func serviceLinks() async throws {
        let problems = try await Configurations.problems(environment: [
            "SIGHTLINE_SERVICE_HOST": "10.0.0.1", "SIGHTLINE_SERVICE_PORT": "50051",
            "SIGHTLINE_PORT": "tcp://10.0.0.1:50051", "SIGHTLINE_PORT_50051_TCP_ADDR": "10.0.0.1",
            "SIGHTLINE_SERVICE_PORT_GRPC": "50051",
        ])
        #expect(problems == [])
        // Otherwise such a variable could hide a key.
        for key in ServerConfiguration.keys {
            #expect(key.section != "service" && key.section != "port")
        }
    }

    @Test(
        "what of the nats sink contradicts itself is a problem with both values",
        arguments: [
            (["nats.duplicate_seconds=659"], "nats.duplicate_seconds is \"659\", but has to be at"),
            (["journal.retain_seconds=841"], "nats.duplicate_seconds is \"900\", but has to be at"),
            (["nats.max_age_seconds=899"], "nats.max_age_seconds is \"899\", but has to be 0, or"),
            (["nats.user=node"], "nats.user is \"node\", but needs nats.password_file"),
            (["nats.tls.certificate=a.pem"], "but needs nats.tls.key"),
            (
                ["nats.servers=tls://a:4222,nats://b:4222"],
                "nats.servers is \"tls://a:4222,nats://b:4222\", but has to have tls:// in all"
            ),
            (["nats.servers=a:4222,tls://b:4222"], "but has to have tls:// in all of its URLs"),
            (["nats.subject_prefix=a..b"], "nats.subject_prefix is \"a..b\", but has to be"),
            (["nats.subject_prefix=a.>"], "nats.subject_prefix is \"a.>\", but has to be"),
            (["nats.stream=a.b"], "nats.stream is \"a.b\", but has to be"),
        ])
    func nats(_ assignments: [String], _ words: String) async throws {
        // These keys are ignored unless the sink is used.
        #expect(try await Configurations.problems(assignments: assignments) == [])
        let problems = try await Configurations.problems(assignments: ["sink=nats"] + assignments)
        #expect(problems.contains { $0.contains(words) }, "\(problems)")
    }

    @Test(
        "what the webhook sink cannot use is a problem that does not quote the URL",
        arguments: [
            ("webhook.url=", "webhook.url is \"\", but the webhook sink needs it"),
            ("webhook.url=http://example.com/hidden", "webhook.url is \"•••\", but has to begin"),
            ("webhook.url=https://a:hidden@b/", "webhook.url is \"•••\", but has to have no user"),
            ("webhook.secret_file=", "webhook.secret_file is \"\", but the webhook sink needs it"),
            ("webhook.allow=a/b", "webhook.allow is \"a/b\", but \"a/b\" is neither a host"),
            ("webhook.source=a b", "webhook.source is \"a b\", but has to be a URI reference"),
        ])
    func webhook(_ assignment: String, _ words: String) async throws {
        let good = ["webhook.url=https://example.com/", "webhook.secret_file=secret"]
        let key = assignment.prefix { $0 != "=" } + "="
        let changed = good.filter { !$0.hasPrefix(key) } + [assignment]
        // These keys are ignored unless the sink is used.
        #expect(try await Configurations.problems(assignments: changed) == [])
        #expect(try await Configurations.problems(assignments: ["sink=webhook"] + good) == [])
        let problems = try await Configurations.problems(assignments: ["sink=webhook"] + changed)
        #expect(problems.count == 1)
        #expect(problems.contains { $0.contains(words) && !$0.contains("hidden") }, "\(problems)")
    }

    @Test(
        "what the postgresql sink cannot use is a problem that does not quote the URL",
        arguments: [
            ("postgresql.url=", "postgresql.url is \"\", but the postgresql sink needs it"),
            ("postgresql.url=https://a@b/c", "postgresql.url is \"•••\", but has to begin"),
            ("postgresql.url=postgresql://a:hidden@b/c", "has to have no password"),
            ("postgresql.url=postgresql://b/c", "has to name a user"),
            ("postgresql.url=postgresql://a@b", "has to name a database"),
            ("postgresql.url=postgresql://a@b:65536/c", "has to have ports"),
            ("postgresql.url=postgresql://a@b/c?password=hidden", "has to have no parameters"),
            ("postgresql.url=postgresql://a@b,,d/c", "has to have parts"),
            ("postgresql.url=postgresql://a@b c/d", "has to have hosts that are names"),
            ("postgresql.schema=Sightline", "postgresql.schema is \"Sightline\", but has to be"),
            ("postgresql.schema=pg_hits", "postgresql.schema is \"pg_hits\", but has to be"),
            ("postgresql.retention_days=7", "or more than postgresql.late_days"),
            ("postgresql.tls.certificate=a.pem", "but needs postgresql.tls.key too"),
        ])
    func postgresql(_ assignment: String, _ words: String) async throws {
        let good = ["postgresql.url=postgresql://a@b/c"]
        let key = assignment.prefix { $0 != "=" } + "="
        let changed = good.filter { !$0.hasPrefix(key) } + [assignment]
        // These keys are ignored unless the sink is used.
        #expect(try await Configurations.problems(assignments: changed) == [])
        let problems = try await Configurations.problems(
            assignments: ["sink=postgresql"] + changed)
        #expect(problems.contains { $0.contains(words) }, "\(problems)")
        #expect(!problems.contains { $0.contains("hidden") })
    }

    @Test("partitions are dropped by the sink alone, and TLS that proves nothing needs no roots")
    func postgresqlPairs() async throws {
        let pairs = [
            (["migrate=false", "retention_days=30"], "has to be 0 where postgresql.migrate"),
            (["tls.mode=require", "tls.roots=a.pem"], "set it to verify-full"),
        ]
        for (settings, words) in pairs {
            let problems = try await Configurations.problems(
                assignments: ["sink=postgresql", "postgresql.url=postgresql://a@b/c"]
                    + settings.map { "postgresql.\($0)" })
            #expect(problems.contains { $0.contains(words) }, "\(problems)")
        }
    }

    @Test("the postgresql sink is there, or the configuration says how to build it")
    func postgresqlTrait() async throws {
        let problems = try await Configurations.problems(
            flags: ["sink": "postgresql"], assignments: ["postgresql.url=postgresql://a@b/c"])
        #if PostgreSQL
        #expect(problems == [])
        #else
        #expect(problems.count == 1)
        #expect(problems.first?.hasSuffix("swift build --traits PostgreSQL") == true)
        #endif
    }

    @Test(
        "what the grpc sink cannot use is a problem, and nothing else is",
        arguments: [
            (["grpc.target="], "grpc.target is \"\", but the grpc sink needs it"),
            (["grpc.target=a.example"], "grpc.target is \"a.example\", but has to be a host and"),
            (["grpc.target=a.example:0"], "but has to be a host and a port from 1 to 65535"),
            (["grpc.target=::1:50061"], "but has to be a host and a port from 1 to 65535"),
            (["grpc.tls.mode=plaintext"], "grpc.tls.mode is \"plaintext\", but grpc.target is not"),
            (["grpc.target=[::1]:1", "grpc.tls.roots=a"], "is \"a\", but is for TLS"),
            (["grpc.tls.key=a"], "grpc.tls.key is \"a\", but needs grpc.tls.certificate too"),
            (["grpc.tls.certificate=a"], "but needs grpc.tls.key too"),
            (["grpc.window_bytes=524287"], "but has to be at least grpc.message_bytes (524288)"),
            (["grpc.tls.mode=plaintext", "grpc.allow_insecure=true"], ""),
            (["grpc.tls.mode=tls", "grpc.target=localhost:1", "grpc.tls.roots=a"], ""),
            (["grpc.tls.mode=plaintext", "grpc.target=127.0.0.2:1"], ""),
            (["grpc.target=localhost:1"], ""),
        ])
    func grpc(_ assignments: [String], _ words: String) async throws {
        let hasTarget = assignments.contains { $0.hasPrefix("grpc.target=") }
        let all = assignments + (hasTarget ? [] : ["grpc.target=a.example:1"])
        // These keys are ignored unless the sink is used.
        #expect(try await Configurations.problems(assignments: all) == [])
        let problems = try await Configurations.problems(assignments: ["sink=grpc"] + all)
        #expect(problems.count == (words.isEmpty ? 0 : 1), "\(problems)")
        #expect(words.isEmpty || problems.contains { $0.contains(words) }, "\(problems)")
    }

    @Test("the nats sink is there, or the configuration says how to build it")
    func natsTrait() async throws {
        let problems = try await Configurations.problems(flags: ["sink": "nats"])
        #if NATS
        #expect(problems == [])
        #else
        #expect(problems.count == 1)
        #expect(problems.first?.hasSuffix("swift build --traits NATS") == true)
        #endif
    }

    @Test("a sink whose backend may lose what it took has that kept for as long as its key says")
    func retention() async throws {
        var rows: [([String], Int)] = [([], 0), (["sink=jsonl"], 0)]
        #if NATS
        rows += [(["sink=nats"], 600), (["sink=nats", "nats.retain_seconds=7"], 7)]
        #endif
        #if PostgreSQL
        rows += [(["sink=postgresql", "postgresql.url=postgresql://a@localhost/b"], 60)]
        #endif
        for (assignments, seconds) in rows {
            let loaded = try await Configurations.load(assignments: assignments)
            #expect(
                try loaded.result.get().journalSinks.map(\.retention) == [.seconds(seconds)],
                "\(assignments)")
        }
    }

    @Test("an unknown name that is long is no reason to compare for long")
    func longNames() async throws {
        let name = String(repeating: "x", count: 100_000)
        #expect(try await self.problem(assignments: ["\(name)=1"]).hasSuffix("is no key"))
    }
}
