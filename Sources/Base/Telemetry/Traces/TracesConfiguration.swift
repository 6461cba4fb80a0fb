package import ConfigurationKeys

/// The settings of the tracer and its exporter.
package struct TracesConfiguration: KeyedConfiguration {
    /// Whether to record spans, if there is an endpoint.
    package var isEnabled = true
    /// The receiver of spans; nil records none.
    package var endpoint: OTLPEndpoint?
    /// How spans are sent.
    package var protocolName = OTLPProtocol.auto
    /// Metadata of each export call, such as credentials.
    package var headers: [(name: String, value: String)] = []
    /// The path of a PEM file with the CAs of the receiver; empty for the system's.
    package var rootsPath = ""
    /// The path of the client certificate (PEM); empty for none.
    package var certificatePath = ""
    /// The path of the client certificate's key (PEM).
    package var keyPath = ""
    /// Whether to compress batches with gzip.
    package var isCompressed = false
    /// The timeout of one export call.
    package var callTimeout = Duration.seconds(10)
    /// The timeout of a batch with all retries.
    package var exportTimeout = Duration.seconds(30)
    /// How long spans wait for a full batch.
    package var delay = Duration.seconds(5)
    /// How long the exporter flushes at shutdown.
    package var flushTimeout = Duration.seconds(2)
    /// The maximum queued spans.
    package var queueSpans = 2048
    /// The maximum spans of one call.
    package var batchSpans = 512
    /// The name of the sampler, which decides which traces to record.
    package var samplerName = "parentbased_always_on"
    /// The share of traces that ratio samplers record, 0 to 1.
    package var samplingRatio = 1.0
    /// The limits of a span.
    package var limits = SpanLimits()
    /// The resource attributes of all spans.
    package var resource = TraceResource()

    /// Creates the default settings, which record nothing.
    package init() {}

    /// Decides which traces to record.
    var sampler: Sampler { Sampler(name: self.samplerName, ratio: self.samplingRatio) }

    /// The keys `telemetry.*`.
    package static let keys: [Key] =
        Self.keys(of: \.resource) + Self.exportKeys + Self.keys(of: \.limits)

    private static let milliseconds = 1...600_000

    private static let exportKeys: [Key] = [
        .flag(
            "telemetry.traces.enabled", \.isEnabled,
            "whether spans are recorded at all; also needs an endpoint"),
        .parsed(
            "telemetry.traces.endpoint", \.endpoint,
            "where spans are sent by OTLP; empty for nowhere. Over HTTP without a path: /v1/traces",
            unit: "URL, http(s)://HOST:PORT/PATH",
            rule: "has to be http://HOST:PORT or https://HOST:PORT, over HTTP with a path",
            Self.endpoint),
        .choice(
            "telemetry.traces.protocol", \.protocolName,
            "how spans are sent; auto: over HTTP if the endpoint has a path or port 4318, else gRPC"
        ),
        .parsed(
            "telemetry.traces.headers", \.headers,
            "metadata or headers of each call to it, as in name=value,name=value", isSecret: true,
            rule: NameValueList.rule + ", and names of letters, digits, -, _ and .",
            NameValueList.readMetadata),
        .text(
            "telemetry.traces.roots_file", \.rootsPath,
            "authorities of the receiver's certificate (PEM); empty for the system's"),
        .text(
            "telemetry.traces.certificate_file", \.certificatePath,
            "the exporter's own certificate, for receivers that ask for one (PEM)"),
        .text("telemetry.traces.key_file", \.keyPath, "the key of that certificate (PEM)"),
        .init(
            "telemetry.traces.compression", of: \Self.isCompressed,
            .choice("none", of: ["none", "gzip"]),
            "how batches of spans are compressed"
        ) { text, traces in traces.isCompressed = text == "gzip" },
        .init(
            "telemetry.traces.sampler", of: \Self.samplerName,
            .choice("parentbased_always_on", of: Sampler.names),
            "which traces are recorded; parentbased: as their sender has decided"
        ) { text, traces in traces.samplerName = text },
        .parsed(
            "telemetry.traces.sampling_ratio", \.samplingRatio,
            "share of traces that the ratio samplers record", standard: "1", unit: "0 to 1",
            rule: "has to be a number from 0 to 1"
        ) { text in Double(text).flatMap { (0...1).contains($0) ? $0 : nil } },
        .duration(
            "telemetry.traces.timeout_milliseconds", \.callTimeout, Self.milliseconds,
            "milliseconds of one call"),
        .duration(
            "telemetry.traces.export_milliseconds", \.exportTimeout, Self.milliseconds,
            "milliseconds of a batch with all its retries; then it is lost"),
        .duration(
            "telemetry.traces.delay_milliseconds", \.delay, Self.milliseconds,
            "milliseconds that spans wait for a batch to be whole"),
        .duration(
            "telemetry.traces.flush_milliseconds", \.flushTimeout, 0...10_000,
            "milliseconds that a stopping server still sends spans"),
        .number(
            "telemetry.traces.queue_spans", \.queueSpans, 1...1_000_000,
            "spans that may wait; what comes then is dropped, and counted"),
        .number("telemetry.traces.batch_spans", \.batchSpans, 1...10_000, "spans of one call"),
    ]
    /// The receiver that a text names; an empty one names none, and nil is none at all.
    private static func endpoint(_ text: String) -> OTLPEndpoint?? {
        if text.isEmpty { return .some(nil) }
        guard let endpoint = OTLPEndpoint(text) else { return nil }
        return .some(endpoint)
    }

    /// Finds what contradicts itself.
    package func check(_ problems: inout ConfigurationProblems<Self>) {
        if let endpoint = self.endpoint, !self.protocolName.takes(endpoint) {
            problems.refuse(
                \.endpoint,
                "has to be without a path for gRPC, or \(Self.name(of: \.protocolName)) "
                    + "http/protobuf")
        }
        if self.certificatePath.isEmpty != self.keyPath.isEmpty {
            problems.refuse(
                self.keyPath.isEmpty ? \.keyPath : \.certificatePath,
                "has to be set too: a certificate and its key belong together")
        }
    }
}
