// How spans are sampled, limited and exported.

/// The configuration of the tracer and its exporter.
package struct TracesConfiguration: Sendable {
    /// Whether spans are recorded, where there is an endpoint. Default true.
    package var isEnabled = true
    /// Where spans are sent; nil where none are recorded. Default nil.
    package var endpoint: OTLPEndpoint?
    /// Metadata of each call to it, such as a credential.
    package var headers: [(name: String, value: String)] = []
    /// Path of a PEM file of the authorities that the receiver's certificate has to lead to; empty
    /// for those of the system.
    package var rootsPath = ""
    /// Path of the PEM file of the exporter's own certificate; empty for none.
    package var certificatePath = ""
    /// Path of the PEM file of its key.
    package var keyPath = ""
    /// Whether batches are compressed with gzip. Default false.
    package var isCompressed = false
    /// How long one call may take. Default 10 s.
    package var callTimeout = Duration.seconds(10)
    /// How long a batch may take with all its retries; then it is lost. Default 30 s.
    package var exportTimeout = Duration.seconds(30)
    /// How long spans wait for others to be sent with. Default 5 s.
    package var delay = Duration.seconds(5)
    /// How long a stopping exporter still sends. Default 2 s.
    package var flushTimeout = Duration.seconds(2)
    /// Spans that may wait; what comes then is dropped, and counted. Default 2048.
    package var queueSpans = 2048
    /// Spans of one call. Default 512.
    package var batchSpans = 512
    /// Which traces are recorded. Default `parentbased_always_on`.
    package var sampler = Sampler(name: "parentbased_always_on", ratio: 1)
    /// How much one span may hold.
    package var limits = SpanLimits()
    /// What the spans tell of.
    package var resource = TraceResource()

    /// The defaults: nothing is recorded.
    package init() {}
}
