internal import Logging

/// A log record: the handler's metadata, the provider's and the event's, merged.
struct LogRecord: Sendable {
    /// The maximum bytes of a record with its newline, since collectors split or drop longer lines.
    /// Longer records are truncated and marked.
    static let maxBytes = 8 << 10

    /// Microseconds since 1970.
    var time: Int64
    var level: Logger.Level
    var logger: String
    /// The service's name (`service.name` in OpenTelemetry); empty for none.
    var service: String
    var message: String
    /// The active trace's id in hexadecimal; nil if there is none.
    var traceID: String?
    /// The active span's id in hexadecimal; nil if there is none.
    var spanID: String?
    /// All other metadata, including an error, sorted by key.
    var metadata: [(key: String, value: Logger.Metadata.Value)]

    /// Merges the metadata: the event's take precedence, then the provider's.
    init(
        _ event: LogEvent, logger: String, service: String = "", time: Int64,
        metadata: Logger.Metadata,
        provider: Logger.MetadataProvider?
    ) {
        var all = metadata
        if let provided = provider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        if let error = event.error { all["error"] = "\(error)" }
        self.time = time
        self.level = event.level
        self.logger = logger
        self.service = service
        self.message = event.message.description
        self.traceID = all.removeValue(forKey: "trace_id").map { "\($0)" }
        self.spanID = all.removeValue(forKey: "span_id").map { "\($0)" }
        self.metadata = all.sorted { $0.key < $1.key }
    }
}
