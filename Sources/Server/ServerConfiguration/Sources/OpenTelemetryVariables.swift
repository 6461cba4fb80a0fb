// The variables that OpenTelemetry's SDKs read, as values of our keys. What is malformed is told of
// and passed over, as its specification asks, where a wrong value of our own stops the start.
internal import ConfigurationKeys
internal import Telemetry
internal import WireFormat

/// What the variables `OTEL_…` of an environment set.
struct OpenTelemetryVariables {
    /// Values by key, each with the variable that it is from.
    private(set) var values: [String: (text: String, variable: String)] = [:]
    /// What was passed over, and why.
    private(set) var warnings: [String] = []
    private let environment: [String: String]

    /// A key, the variables that set it, the first one first, and what makes its value of theirs.
    private struct Row {
        let key: String
        let variables: [String]
        let value: @Sendable (String) -> String

        init(
            _ key: String, _ variables: String...,
            value: @escaping @Sendable (String) -> String = { $0 }
        ) {
            self.key = key
            self.variables = variables
            self.value = value
        }
    }

    /// Reads the variables.
    init(_ environment: [String: String]) {
        // Empty is unset (OpenTelemetry, environment variables).
        self.environment = environment.filter { !$0.value.isEmpty }
        for row in Self.rows { self.read(row) }
        self.readEndpoint()
        self.readSwitches()
        self.readFixed()
    }

    /// All variables that set a key, for the documentation.
    static var documentation: [(key: String, variables: [String])] {
        Self.rows.map { ($0.key, $0.variables) } + [
            ("telemetry.traces.endpoint", Self.endpointVariables),
            ("telemetry.traces.enabled", ["OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER"]),
        ]
    }

    private static let endpointVariables = [
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT",
    ]

    private static let rows: [Row] = [
        Row("telemetry.service_name", "OTEL_SERVICE_NAME"),
        Row("telemetry.resource_attributes", "OTEL_RESOURCE_ATTRIBUTES"),
        Row(
            "telemetry.traces.protocol", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
            "OTEL_EXPORTER_OTLP_PROTOCOL"
        ) { $0.lowercased() },
        Row(
            "telemetry.traces.headers", "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
            "OTEL_EXPORTER_OTLP_HEADERS"),
        Row(
            "telemetry.traces.roots_file", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
            "OTEL_EXPORTER_OTLP_CERTIFICATE"),
        Row(
            "telemetry.traces.certificate_file", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE",
            "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"),
        Row(
            "telemetry.traces.key_file", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY",
            "OTEL_EXPORTER_OTLP_CLIENT_KEY"),
        Row(
            "telemetry.traces.compression", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION",
            "OTEL_EXPORTER_OTLP_COMPRESSION"
        ) { $0.lowercased() },
        Row("telemetry.traces.sampler", "OTEL_TRACES_SAMPLER") { $0.lowercased() },
        Row("telemetry.traces.sampling_ratio", "OTEL_TRACES_SAMPLER_ARG"),
        Row(
            "telemetry.traces.timeout_milliseconds", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
            "OTEL_EXPORTER_OTLP_TIMEOUT"),
        Row("telemetry.traces.export_milliseconds", "OTEL_BSP_EXPORT_TIMEOUT"),
        Row("telemetry.traces.delay_milliseconds", "OTEL_BSP_SCHEDULE_DELAY"),
        Row("telemetry.traces.queue_spans", "OTEL_BSP_MAX_QUEUE_SIZE"),
        Row("telemetry.traces.batch_spans", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"),
        Row(
            "telemetry.traces.max_attributes", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
            "OTEL_ATTRIBUTE_COUNT_LIMIT"),
        Row(
            "telemetry.traces.max_text", "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
            "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"),
        Row("telemetry.traces.max_events", "OTEL_SPAN_EVENT_COUNT_LIMIT"),
        Row("telemetry.traces.max_links", "OTEL_SPAN_LINK_COUNT_LIMIT"),
    ]

    /// The first variable that is set decides, where its value can be taken.
    private mutating func read(_ row: Row) {
        guard let key = TracesConfiguration.keys.first(where: { $0.name == row.key })
        else { return }
        for variable in row.variables {
            guard let text = self.environment[variable] else { continue }
            let value = row.value(text)
            if key.takes(value), key.problems(value).isEmpty, !Self.hasUnit(value, key.standard) {
                self.values[row.key] = (value, variable)
                return
            }
            let shown = key.isSecret ? UserInfo.mask : text
            self.warn(variable, shown, "cannot be taken as \(row.key)")
        }
    }

    /// Whether a number has a unit, as ours may: those of OpenTelemetry are numbers alone.
    private static func hasUnit(_ value: String, _ standard: StandardValue) -> Bool {
        guard case .number = standard else { return false }
        return Int(value) == nil
    }

    /// An endpoint without a scheme is encrypted, unless OTEL_EXPORTER_OTLP_INSECURE says not.
    private mutating func readEndpoint() {
        for variable in Self.endpointVariables {
            guard let text = self.environment[variable] else { continue }
            var url = text
            if !text.contains("://") {
                let isInsecure =
                    self.flag("OTEL_EXPORTER_OTLP_TRACES_INSECURE")
                    ?? self.flag("OTEL_EXPORTER_OTLP_INSECURE") ?? false
                url = (isInsecure ? "http://" : "https://") + text
            }
            if let endpoint = OTLPEndpoint(url), self.protocolName.takes(endpoint) {
                self.values["telemetry.traces.endpoint"] = (
                    self.url(url, of: endpoint, isForSpans: variable.contains("_TRACES_")), variable
                )
                return
            }
            self.warn(
                variable, text,
                "is not http://HOST:PORT or https://HOST:PORT, over HTTP with a path")
        }
    }

    /// Over HTTP, the address of all signals is followed by that of spans; that of spans alone
    /// holds as it is.
    private func url(_ url: String, of endpoint: OTLPEndpoint, isForSpans: Bool) -> String {
        guard self.protocolName.resolved(for: endpoint) == .http else { return url }
        if isForSpans { return endpoint.path.isEmpty ? url + "/" : url }
        return (url.hasSuffix("/") ? String(url.dropLast()) : url) + OTLPEndpoint.tracesPath
    }

    private var protocolName: OTLPProtocol {
        self.values["telemetry.traces.protocol"].flatMap { OTLPProtocol(rawValue: $0.text) }
            ?? .auto
    }

    /// What switches spans on or off.
    private mutating func readSwitches() {
        let (endpoint, enabled) = ("telemetry.traces.endpoint", "telemetry.traces.enabled")
        switch self.environment["OTEL_TRACES_EXPORTER"]?.lowercased() {
        case nil: break
        case "otlp"?:
            // Somebody asks for the export: the standard's default address and protocol hold.
            let isGRPC = self.protocolName == .grpc
            let port = isGRPC ? OTLPEndpoint.grpcPort : OTLPEndpoint.httpPort
            let standard = "http://localhost:\(port)"
            self.values[endpoint] = self.values[endpoint] ?? (standard, "OTEL_TRACES_EXPORTER")
        case "none"?: self.values[enabled] = ("false", "OTEL_TRACES_EXPORTER")
        case let other?:
            self.warn("OTEL_TRACES_EXPORTER", other, "is neither otlp nor none")
        }
        if self.flag("OTEL_SDK_DISABLED") == true {
            self.values[enabled] = ("false", "OTEL_SDK_DISABLED")
        }
    }

    /// What the server can do in one way alone.
    private mutating func readFixed() {
        if let text = self.environment["OTEL_PROPAGATORS"] {
            let names = Set(text.split(separator: ",").map { $0.filter { $0 != " " } })
            if names != ["tracecontext", "baggage"] {
                self.warn("OTEL_PROPAGATORS", text, "is not tracecontext,baggage, which are used")
            }
        }
    }

    /// Only "true" is true, in any case; anything but "false" is told of (OpenTelemetry, Boolean).
    private mutating func flag(_ variable: String) -> Bool? {
        guard let text = self.environment[variable] else { return nil }
        let word = text.lowercased()
        if word != "true", word != "false" {
            self.warn(variable, text, "is neither true nor false")
        }
        return word == "true"
    }

    private mutating func warn(_ variable: String, _ text: String, _ problem: String) {
        let shown = UserInfo.hidden(in: text).prefix(64)
        self.warnings.append("\(variable) is \"\(shown)\", but \(problem): passed over")
    }
}
