/// The settings of the tracer and its exporter.
package struct TracesConfiguration: Sendable {
    /// Whether to record spans, if there is an endpoint. Default true.
    package var isEnabled = true
    /// The receiver of spans; nil records none. Default nil.
    package var endpoint: OTLPEndpoint?
    /// Metadata of each export call, such as credentials.
    package var headers: [(name: String, value: String)] = []
    /// The path of a PEM file with the CAs of the receiver; empty for the system's.
    package var rootsPath = ""
    /// The path of the client certificate (PEM); empty for none.
    package var certificatePath = ""
    /// The path of the client certificate's key (PEM).
    package var keyPath = ""
    /// Whether to compress batches with gzip. Default false.
    package var isCompressed = false
    /// The timeout of one export call. Default 10 s.
    package var callTimeout = Duration.seconds(10)
    /// The timeout of a batch with all retries, after which it is dropped. Default 30 s.
    package var exportTimeout = Duration.seconds(30)
    /// How long spans wait for a full batch. Default 5 s.
    package var delay = Duration.seconds(5)
    /// How long the exporter flushes at shutdown. Default 2 s.
    package var flushTimeout = Duration.seconds(2)
    /// The maximum queued spans; further ones are dropped and counted. Default 2048.
    package var queueSpans = 2048
    /// The maximum spans of one call. Default 512.
    package var batchSpans = 512
    /// Decides which traces to record. Default `parentbased_always_on`.
    package var sampler = Sampler(name: "parentbased_always_on", ratio: 1)
    /// The limits of a span.
    package var limits = SpanLimits()
    /// The resource attributes of all spans.
    package var resource = TraceResource()

    /// Creates the default settings, which record nothing.
    package init() {}
}
