// The keys of spans: what is recorded of a request, and where it is sent.
internal import Telemetry

extension ConfigurationKey {
    private static let milliseconds = 1...600_000

    /// The keys of the service's name and of spans.
    static let traces: [ConfigurationKey] = [
        .text(
            "telemetry.service_name", \.traces.resource.serviceName, "the service's name in spans"),
        .init(
            "telemetry.resource_attributes", .text(""),
            "further attributes of the service in spans, as in name=value,name=value"),
        .flag(
            "telemetry.traces.enabled", \.traces.isEnabled,
            "whether spans are recorded at all; also needs an endpoint"),
        .init(
            "telemetry.traces.endpoint", .text(""),
            "where spans are sent by OTLP over gRPC; empty for nowhere",
            unit: "URL, http(s)://HOST:PORT"),
        .init(
            "telemetry.traces.headers", .text(""),
            "metadata of each call to it, as in name=value,name=value", isSecret: true),
        .text(
            "telemetry.traces.roots_file", \.traces.rootsPath,
            "authorities of the receiver's certificate (PEM); empty for the system's"),
        .text(
            "telemetry.traces.certificate_file", \.traces.certificatePath,
            "the exporter's own certificate, for receivers that ask for one (PEM)"),
        .text("telemetry.traces.key_file", \.traces.keyPath, "the key of that certificate (PEM)"),
        .init(
            "telemetry.traces.compression", .choice("none", of: ["none", "gzip"]),
            "how batches of spans are compressed"),
        .init(
            "telemetry.traces.sampler", .choice("parentbased_always_on", of: Sampler.names),
            "which traces are recorded; parentbased: as their sender has decided"),
        .init(
            "telemetry.traces.sampling_ratio", .text("1"),
            "share of traces that the ratio samplers record", unit: "0 to 1"),
        .duration(
            "telemetry.traces.timeout_milliseconds", \.traces.callTimeout, Self.milliseconds,
            "milliseconds of one call"),
        .duration(
            "telemetry.traces.export_milliseconds", \.traces.exportTimeout, Self.milliseconds,
            "milliseconds of a batch with all its retries; then it is lost"),
        .duration(
            "telemetry.traces.delay_milliseconds", \.traces.delay, Self.milliseconds,
            "milliseconds that spans wait for a batch to be whole"),
        .duration(
            "telemetry.traces.flush_milliseconds", \.traces.flushTimeout, 0...10_000,
            "milliseconds that a stopping server still sends spans"),
        .number(
            "telemetry.traces.queue_spans", \.traces.queueSpans, 1...1_000_000,
            "spans that may wait; what comes then is dropped, and counted"),
        .number(
            "telemetry.traces.batch_spans", \.traces.batchSpans, 1...10_000, "spans of one call"),
        .number(
            "telemetry.traces.max_attributes", \.traces.limits.attributes, 0...10_000,
            "attributes of a span, an event or a link"),
        .number(
            "telemetry.traces.max_text", \.traces.limits.textCharacters, 0...1_000_000,
            "characters of an attribute's text", unit: "characters"),
        .number(
            "telemetry.traces.max_events", \.traces.limits.events, 0...10_000, "events of a span"),
        .number(
            "telemetry.traces.max_links", \.traces.limits.links, 0...10_000,
            "links of a span: of a request to its events' traces, of a delivery to its requests"),
    ]
}

extension TracesConfiguration {
    /// Reads what is more than one value.
    mutating func read(_ values: inout ConfigurationValues) {
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
        self.isCompressed = values.text("telemetry.traces.compression") == "gzip"
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
        if self.certificatePath.isEmpty != self.keyPath.isEmpty {
            values.refuse(
                self.keyPath.isEmpty
                    ? "telemetry.traces.key_file" : "telemetry.traces.certificate_file",
                "has to be set too: a certificate and its key belong together")
        }
    }
}
