// The keys of spans: what is recorded of a request, and where it is sent.
internal import Telemetry

extension ConfigurationKey {
    private static let milliseconds = 1...600_000

    /// The keys of the service's name and of spans.
    static let traces: [ConfigurationKey] = [
        .init("telemetry.service_name", .text("sightline"), "the service's name in spans"),
        .init(
            "telemetry.resource_attributes", .text(""),
            "further attributes of the service in spans, as in name=value,name=value"),
        .init(
            "telemetry.traces.enabled", .flag(true),
            "whether spans are recorded at all; also needs an endpoint"),
        .init(
            "telemetry.traces.endpoint", .text(""),
            "where spans are sent by OTLP over gRPC; empty for nowhere",
            unit: "URL, http(s)://HOST:PORT"),
        .init(
            "telemetry.traces.headers", .text(""),
            "metadata of each call to it, as in name=value,name=value", isSecret: true),
        .init(
            "telemetry.traces.roots_file", .text(""),
            "authorities of the receiver's certificate (PEM); empty for the system's"),
        .init(
            "telemetry.traces.certificate_file", .text(""),
            "the exporter's own certificate, for receivers that ask for one (PEM)"),
        .init("telemetry.traces.key_file", .text(""), "the key of that certificate (PEM)"),
        .init(
            "telemetry.traces.compression", .choice("none", of: ["none", "gzip"]),
            "how batches of spans are compressed"),
        .init(
            "telemetry.traces.sampler", .choice("parentbased_always_on", of: Sampler.names),
            "which traces are recorded; parentbased: as their sender has decided"),
        .init(
            "telemetry.traces.sampling_ratio", .text("1"),
            "share of traces that the ratio samplers record", unit: "0 to 1"),
        .init(
            "telemetry.traces.timeout_milliseconds", .number(10_000, Self.milliseconds),
            "milliseconds of one call"),
        .init(
            "telemetry.traces.export_milliseconds", .number(30_000, Self.milliseconds),
            "milliseconds of a batch with all its retries; then it is lost"),
        .init(
            "telemetry.traces.delay_milliseconds", .number(5000, Self.milliseconds),
            "milliseconds that spans wait for a batch to be whole"),
        .init(
            "telemetry.traces.flush_milliseconds", .number(2000, 0...10_000),
            "milliseconds that a stopping server still sends spans"),
        .init(
            "telemetry.traces.queue_spans", .number(2048, 1...1_000_000),
            "spans that may wait; what comes then is dropped, and counted"),
        .init("telemetry.traces.batch_spans", .number(512, 1...10_000), "spans of one call"),
        .init(
            "telemetry.traces.max_attributes", .number(128, 0...10_000),
            "attributes of a span, an event or a link"),
        .init(
            "telemetry.traces.max_text", .number(4096, 0...1_000_000),
            "characters of an attribute's text", unit: "characters"),
        .init("telemetry.traces.max_events", .number(128, 0...10_000), "events of a span"),
        .init(
            "telemetry.traces.max_links", .number(128, 0...10_000),
            "links of a span: of a request to its events' traces, of a delivery to its requests"),
    ]
}

extension TracesConfiguration {
    /// Reads the keys; what is wrong beyond their types becomes a problem of the values.
    init(_ values: inout ConfigurationValues) {
        self.init()
        self.resource.serviceName = values.text("telemetry.service_name")
        if let list = NameValueList.read(values.text("telemetry.resource_attributes")) {
            self.resource.configured = list
        } else {
            values.refuse("telemetry.resource_attributes", Self.listRule)
        }
        self.readEndpoint(&values)
        if let ratio = Self.ratio(values.text("telemetry.traces.sampling_ratio")) {
            self.sampler = Sampler(name: values.text("telemetry.traces.sampler"), ratio: ratio)
        } else {
            values.refuse("telemetry.traces.sampling_ratio", "has to be a number from 0 to 1")
        }
        self.isEnabled = values.flag("telemetry.traces.enabled")
        self.isCompressed = values.text("telemetry.traces.compression") == "gzip"
        self.callTimeout = values.milliseconds("telemetry.traces.timeout_milliseconds")
        self.exportTimeout = values.milliseconds("telemetry.traces.export_milliseconds")
        self.delay = values.milliseconds("telemetry.traces.delay_milliseconds")
        self.flushTimeout = values.milliseconds("telemetry.traces.flush_milliseconds")
        self.queueSpans = values.number("telemetry.traces.queue_spans")
        self.batchSpans = values.number("telemetry.traces.batch_spans")
        self.limits.attributes = values.number("telemetry.traces.max_attributes")
        self.limits.textCharacters = values.number("telemetry.traces.max_text")
        self.limits.events = values.number("telemetry.traces.max_events")
        self.limits.links = values.number("telemetry.traces.max_links")
    }

    /// The rule of lists, for problems.
    static let listRule =
        "has to be a list as in name=value,name=value, with commas in values as %2C"

    /// A share from 0 to 1; nil for any other text.
    static func ratio(_ text: String) -> Double? {
        Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
    }

    private mutating func readEndpoint(_ values: inout ConfigurationValues) {
        let text = values.text("telemetry.traces.endpoint")
        self.endpoint = OTLPEndpoint(text)
        if self.endpoint == nil, !text.isEmpty {
            values.refuse(
                "telemetry.traces.endpoint",
                "has to be http://HOST:PORT or https://HOST:PORT, without a path")
        }
        if let list = NameValueList.readMetadata(values.text("telemetry.traces.headers")) {
            self.headers = list
        } else {
            values.refuse(
                "telemetry.traces.headers",
                Self.listRule + ", and names of letters, digits, -, _ and .")
        }
        self.rootsPath = values.text("telemetry.traces.roots_file")
        self.certificatePath = values.text("telemetry.traces.certificate_file")
        self.keyPath = values.text("telemetry.traces.key_file")
        if self.certificatePath.isEmpty != self.keyPath.isEmpty {
            values.refuse(
                self.keyPath.isEmpty
                    ? "telemetry.traces.key_file" : "telemetry.traces.certificate_file",
                "has to be set too: a certificate and its key belong together")
        }
    }
}

extension ConfigurationValues {
    fileprivate func milliseconds(_ name: String) -> Duration { .milliseconds(self.number(name)) }
}
