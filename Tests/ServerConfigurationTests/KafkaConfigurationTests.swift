// What of the kafka sink's keys stops the start.
@testable internal import ServerConfiguration
internal import Testing

struct KafkaConfigurationTests {
    @Test(
        "what of the kafka sink contradicts itself is a problem with the value and the remedy",
        arguments: [
            (
                ["kafka.brokers=localhost"],
                "kafka.brokers is \"localhost\", but has to be HOST:PORT"
            ),
            (["kafka.brokers=a:9092,,b:9092"], "but has to be HOST:PORT"),
            (["kafka.brokers=kafka://a:9092"], "but has to be HOST:PORT"),
            (["kafka.brokers=a:0"], "but has to be HOST:PORT"),
            (["kafka.topic=a b"], "kafka.topic is \"a b\", but has to be letters, digits"),
            (["kafka.topic={app}"], "kafka.topic is \"{app}\", but has to be letters, digits"),
            (["kafka.topic={tenant"], "but has to be letters, digits"),
            (["kafka.topic=.."], "but has to be letters, digits"),
            (
                ["kafka.delivery_seconds=5"],
                "kafka.delivery_seconds is \"5\", but has to be at least 6"
            ),
            (
                ["kafka.max_message_bytes=2000000", "kafka.max_queued_bytes=1048576"],
                "kafka.max_queued_bytes is \"1048576\", but has to be at least"
            ),
            (["kafka.sasl.mechanism=scram-sha-512"], "kafka.sasl.user is \"\", but is needed by"),
            (
                ["kafka.sasl.mechanism=plain", "kafka.sasl.user=u"],
                "kafka.sasl.password_file is \"\", but is needed by"
            ),
            (
                [
                    "kafka.sasl.mechanism=plain", "kafka.sasl.user=u",
                    "kafka.sasl.password_file=p", "kafka.brokers=127.0.0.1:9092,kafka:9092",
                ], "kafka.sasl.mechanism is \"plain\", but would send the password as it is"
            ),
            (["kafka.sasl.user=u"], "kafka.sasl.user is \"u\", but is without effect"),
            (["kafka.sasl.password_file=p"], "but is without effect: set kafka.sasl.mechanism"),
            (["kafka.tls.roots=a.pem"], "kafka.tls.roots is \"a.pem\", but is without effect"),
            (
                ["kafka.tls.enabled=true", "kafka.tls.certificate=a.pem"],
                "kafka.tls.certificate is \"a.pem\", but needs kafka.tls.key too"
            ),
            (
                ["kafka.tls.enabled=true", "kafka.tls.key=a.pem"],
                "kafka.tls.key is \"a.pem\", but needs kafka.tls.certificate too"
            ),
            (
                ["kafka.tls.enabled=true", "kafka.tls.key_password_file=p"],
                "kafka.tls.key_password_file is \"p\", but needs kafka.tls.key too"
            ),
        ])
    func problems(_ assignments: [String], _ words: String) async throws {
        // These keys are ignored unless the sink is used.
        #expect(try await Configurations.problems(assignments: assignments) == [])
        let problems = try await Configurations.problems(assignments: ["sink=kafka"] + assignments)
        #expect(problems.contains { $0.contains(words) }, "\(problems)")
    }

    @Test(
        "what fits is no problem",
        arguments: [
            ["kafka.brokers=a:1, [::1]:9092,kafka-1.example.com:9093"],
            ["kafka.topic=Hits_1.{tenant}-{kind}"],
            [
                "kafka.sasl.mechanism=plain", "kafka.sasl.user=u", "kafka.sasl.password_file=p",
                "kafka.brokers=localhost:9092,127.0.0.2:9092,[::1]:9092",
            ],
            [
                "kafka.sasl.mechanism=scram-sha-256", "kafka.sasl.user=u",
                "kafka.sasl.password_file=p", "kafka.brokers=kafka:9092",
            ],
            [
                "kafka.tls.enabled=true", "kafka.tls.roots=r.pem", "kafka.tls.certificate=c.pem",
                "kafka.tls.key=k.pem", "kafka.tls.key_password_file=p",
            ],
        ])
    func fitting(_ assignments: [String]) async throws {
        let problems = try await Configurations.problems(assignments: ["sink=kafka"] + assignments)
        #if Kafka
        #expect(problems == [])
        #else
        #expect(problems.count == 1)
        #endif
    }

    @Test("each kafka sink of a list is checked with its own keys")
    func listed() async throws {
        let list = "sinks=[{type: kafka}, {type: kafka, name: b, topic: '{x}'}]"
        let problems = try await Configurations.problems(assignments: [list])
        #expect(problems.contains { $0.contains("kafka.topic is \"{x}\"") }, "\(problems)")
    }

    @Test("the kafka sink is there, or the configuration says how to build it")
    func trait() async throws {
        let problems = try await Configurations.problems(flags: ["sink": "kafka"])
        #if Kafka
        #expect(problems == [])
        #else
        #expect(problems.count == 1)
        #expect(problems.first?.hasSuffix("swift build --traits Kafka") == true)
        #endif
    }
}
