// OpenTelemetry's variables as values of our keys: what each sets, and what is passed over.
internal import ConfigurationKeys
@testable internal import ServerConfiguration
internal import Telemetry
internal import Testing

struct OpenTelemetryVariablesTests {
    struct Row: Sendable, CustomStringConvertible {
        let variables: [String: String]
        /// Keys, below `telemetry.`, and the values that they get.
        var values: [String: String] = [:]
        /// What each warning names.
        var warnings: [String] = []

        var description: String {
            self.variables.map { "\($0)=\($1)" }.sorted().joined(separator: " ")
        }
    }

    private static func row(
        _ variable: String, _ value: String, _ key: String, _ text: String? = nil
    ) -> Row { Row(variables: [variable: value], values: [key: text ?? value]) }

    private static func refused(_ variable: String, _ value: String) -> Row {
        Row(variables: [variable: value], warnings: [variable])
    }

    static let taken: [Row] = [
        row("OTEL_SERVICE_NAME", "pushes", "service_name"),
        row("OTEL_RESOURCE_ATTRIBUTES", "a=b,c=%20", "resource_attributes"),
        row("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1", "traces.endpoint"),
        row("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://a", "traces.endpoint"),
        row("OTEL_EXPORTER_OTLP_ENDPOINT", "a:1", "traces.endpoint", "https://a:1"),
        row("OTEL_EXPORTER_OTLP_HEADERS", "a=b", "traces.headers"),
        row("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=b", "traces.headers"),
        row("OTEL_EXPORTER_OTLP_CERTIFICATE", "/roots.pem", "traces.roots_file"),
        row("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "/roots.pem", "traces.roots_file"),
        row("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/a.pem", "traces.certificate_file"),
        row("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/a.key", "traces.key_file"),
        row("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip", "traces.compression"),
        row("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "GZIP", "traces.compression", "gzip"),
        row("OTEL_EXPORTER_OTLP_TIMEOUT", "1500", "traces.timeout_milliseconds"),
        row("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "1", "traces.timeout_milliseconds"),
        row("OTEL_TRACES_SAMPLER", "always_off", "traces.sampler"),
        row(
            "OTEL_TRACES_SAMPLER", "ParentBased_TraceIDRatio", "traces.sampler",
            "parentbased_traceidratio"),
        row("OTEL_TRACES_SAMPLER_ARG", "0.25", "traces.sampling_ratio"),
        row("OTEL_BSP_SCHEDULE_DELAY", "100", "traces.delay_milliseconds"),
        row("OTEL_BSP_EXPORT_TIMEOUT", "100", "traces.export_milliseconds"),
        row("OTEL_BSP_MAX_QUEUE_SIZE", "10", "traces.queue_spans"),
        row("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "10", "traces.batch_spans"),
        row("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "0", "traces.max_attributes"),
        row("OTEL_ATTRIBUTE_COUNT_LIMIT", "1", "traces.max_attributes"),
        row("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "9", "traces.max_text"),
        row("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "9", "traces.max_text"),
        row("OTEL_SPAN_EVENT_COUNT_LIMIT", "9", "traces.max_events"),
        row("OTEL_SPAN_LINK_COUNT_LIMIT", "9", "traces.max_links"),
        row("OTEL_SDK_DISABLED", "true", "traces.enabled", "false"),
        row("OTEL_SDK_DISABLED", "TRUE", "traces.enabled", "false"),
        row("OTEL_TRACES_EXPORTER", "none", "traces.enabled", "false"),
        row("OTEL_TRACES_EXPORTER", "otlp", "traces.endpoint", "http://localhost:4318"),
        row("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "traces.protocol"),
        row("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", "traces.protocol"),
        row(
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "HTTP/Protobuf", "traces.protocol",
            "http/protobuf"),
        row("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:4317", "traces.endpoint"),
        row(
            "OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:4318", "traces.endpoint",
            "http://a:4318/v1/traces"),
        row(
            "OTEL_EXPORTER_OTLP_ENDPOINT", "https://a/otlp/", "traces.endpoint",
            "https://a/otlp/v1/traces"),
        row("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://a/my/traces", "traces.endpoint"),
        row(
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://a:4318", "traces.endpoint",
            "http://a:4318/"),
        Row(
            variables: ["OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"],
            values: ["traces.endpoint": "http://localhost:4317", "traces.protocol": "grpc"]),
        Row(
            variables: [
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            ],
            values: [
                "traces.endpoint": "http://a:1/v1/traces", "traces.protocol": "http/protobuf",
            ]),
        Row(
            variables: [
                "OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1",
            ], values: ["traces.endpoint": "http://a:1"]),
        Row(
            variables: [
                "OTEL_EXPORTER_OTLP_ENDPOINT": "a:1", "OTEL_EXPORTER_OTLP_INSECURE": "true",
            ], values: ["traces.endpoint": "http://a:1"]),
        Row(
            variables: [
                "OTEL_EXPORTER_OTLP_ENDPOINT": "a:1", "OTEL_EXPORTER_OTLP_INSECURE": "true",
                "OTEL_EXPORTER_OTLP_TRACES_INSECURE": "false",
            ], values: ["traces.endpoint": "https://a:1"]),
        Row(
            variables: [
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:1",
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://b:1",
            ], values: ["traces.endpoint": "http://b:1"]),
        Row(
            variables: [
                "OTEL_ATTRIBUTE_COUNT_LIMIT": "1", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "2",
            ], values: ["traces.max_attributes": "2"]),
    ]

    static let passedOver: [Row] = [
        Row(variables: [:]), Row(variables: ["OTEL_SERVICE_NAME": ""]),
        Row(variables: ["OTEL_SDK_DISABLED": ""]), Row(variables: ["OTEL_SDK_DISABLED": "false"]),
        Row(variables: ["OTEL_PROPAGATORS": "tracecontext,baggage"]),
        Row(variables: ["OTEL_PROPAGATORS": "baggage, tracecontext"]),
        Row(variables: ["OTEL_SOMETHING_ELSE": "x"]),
        refused("OTEL_RESOURCE_ATTRIBUTES", "a"), refused("OTEL_RESOURCE_ATTRIBUTES", "a=%zz"),
        Row(
            variables: [
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://a/otlp",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
            ], values: ["traces.protocol": "grpc"], warnings: ["OTEL_EXPORTER_OTLP_ENDPOINT"]),
        refused("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a/b c"),
        refused("OTEL_EXPORTER_OTLP_ENDPOINT", "unix:///a"),
        refused("OTEL_EXPORTER_OTLP_HEADERS", "a"),
        refused("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
        refused("OTEL_EXPORTER_OTLP_TIMEOUT", "-1"), refused("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
        refused("OTEL_TRACES_SAMPLER", "jaeger_remote"),
        refused("OTEL_TRACES_SAMPLER_ARG", "1.5"), refused("OTEL_TRACES_SAMPLER_ARG", "half"),
        refused("OTEL_TRACES_SAMPLER_ARG", "nan"), refused("OTEL_TRACES_SAMPLER_ARG", "-0.1"),
        refused("OTEL_BSP_MAX_QUEUE_SIZE", "many"), refused("OTEL_BSP_MAX_QUEUE_SIZE", "0"),
        refused("OTEL_SPAN_LINK_COUNT_LIMIT", "99999999999999999999"),
        refused("OTEL_SDK_DISABLED", "1"), refused("OTEL_SDK_DISABLED", "yes"),
        refused("OTEL_TRACES_EXPORTER", "zipkin"),
        refused("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        refused("OTEL_PROPAGATORS", "b3"), refused("OTEL_PROPAGATORS", "none"),
        refused("OTEL_SERVICE_NAME", "a\nb"),
        Row(
            variables: ["OTEL_BSP_MAX_QUEUE_SIZE": "x", "OTEL_BSP_SCHEDULE_DELAY": "y"],
            warnings: ["OTEL_BSP_SCHEDULE_DELAY", "OTEL_BSP_MAX_QUEUE_SIZE"]),
        Row(
            variables: [
                "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "x", "OTEL_EXPORTER_OTLP_TIMEOUT": "7",
            ], values: ["traces.timeout_milliseconds": "7"],
            warnings: ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"]),
    ]

    @Test("a variable sets its key, or is told of and passed over", arguments: taken + passedOver)
    func table(_ row: Row) {
        let variables = OpenTelemetryVariables(row.variables)
        #expect(
            Dictionary(
                uniqueKeysWithValues: variables.values.map {
                    (String($0.key.dropFirst("telemetry.".count)), $0.value.text)
                }) == row.values)
        #expect(variables.warnings.count == row.warnings.count)
        for (warning, name) in zip(variables.warnings, row.warnings) {
            #expect(warning.hasPrefix("\(name) is \""))
        }
    }

    @Test("a warning hides secrets, and is no longer than its value may be shown")
    func secrets() {
        let variables = OpenTelemetryVariables([
            "OTEL_EXPORTER_OTLP_HEADERS": "hunter2",
            "OTEL_TRACES_SAMPLER": String(repeating: "x", count: 1000),
        ])
        #expect(variables.warnings.count == 2)
        #expect(variables.warnings.allSatisfy { !$0.contains("hunter2") && $0.count < 200 })
    }

    @Test("they set what nothing of our own sets, and their wrong values stop nothing")
    func precedence() async throws {
        let environment = [
            "OTEL_BSP_MAX_QUEUE_SIZE": "11", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "12",
            "OTEL_SPAN_LINK_COUNT_LIMIT": "x", "SIGHTLINE_TELEMETRY_TRACES_BATCH_SPANS": "13",
        ]
        let loaded = try await Configurations.load(
            environment: environment, yaml: "telemetry:\n  traces:\n    max_events: 14\n")
        let traces = try loaded.result.get().traces
        #expect(traces.queueSpans == 11 && traces.batchSpans == 13)
        #expect(traces.limits.events == 14 && traces.limits.links == 128)
        #expect(loaded.warnings.count == 1)
        let queue = loaded.settings.first { $0.key.name == "telemetry.traces.queue_spans" }
        #expect(queue?.origin == .environment("OTEL_BSP_MAX_QUEUE_SIZE"))
        let file = try await Configurations.read(
            environment: environment, yaml: "telemetry:\n  traces:\n    queue_spans: 15\n")
        #expect(file.traces.queueSpans == 15)
    }

    @Test("the documentation names every variable that sets a key")
    func documentation() {
        let documented = Set(OpenTelemetryVariables.documentation.flatMap(\.variables))
        let used = Set(
            Self.taken.flatMap(\.variables.keys).filter { !$0.hasSuffix("INSECURE") })
        #expect(used.isSubset(of: documented))
        let keys = Set(TracesConfiguration.keys.map(\.name))
        #expect(OpenTelemetryVariables.documentation.allSatisfy { keys.contains($0.key) })
    }

    @Test(
        "a wrong value of our own stops the start, and says why",
        arguments: [
            ("telemetry.traces.endpoint", "localhost:4317"),
            ("telemetry.traces.endpoint", "http://a/v1 traces"),
            ("telemetry.traces.protocol", "http/json"),
            ("telemetry.traces.headers", "a"), ("telemetry.traces.headers", "grpc-x=1"),
            ("telemetry.resource_attributes", "a"), ("telemetry.traces.sampling_ratio", "2"),
            ("telemetry.traces.sampling_ratio", "a"), ("telemetry.traces.sampler", "never"),
            ("telemetry.traces.certificate_file", "/a.pem"),
        ])
    func problems(_ key: String, _ value: String) async throws {
        let problems = try await Configurations.problems(flags: [key: value])
        #expect(problems.count == 1)
        #expect(problems.first?.contains("telemetry.") == true)
        #expect(problems.first?.contains("has to be") == true)
    }
}
