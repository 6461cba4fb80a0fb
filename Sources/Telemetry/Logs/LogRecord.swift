// One log record, whatever it is written as.
internal import Logging

/// What a handler was told, put together: its own metadata, the provider's, and the event's.
struct LogRecord: Sendable {
    /// Bytes of a record with its newline; what does not fit is cut, and the record says so.
    /// Collectors split or drop longer lines.
    static let maxBytes = 8 << 10

    /// Microseconds since 1970.
    var time: Int64
    var level: Logger.Level
    var logger: String
    var message: String
    /// The trace that was under way, in hex; nil where there was none.
    var traceID: String?
    /// The span that was under way, in hex.
    var spanID: String?
    /// All other metadata, by their keys in order; an error is among them.
    var metadata: [(key: String, value: Logger.Metadata.Value)]

    /// The record of an event; of two values with one key the one that is nearer to it counts.
    init(
        _ event: LogEvent, logger: String, time: Int64, metadata: Logger.Metadata,
        provider: Logger.MetadataProvider?
    ) {
        var all = metadata
        if let provided = provider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        if let error = event.error { all["error"] = "\(error)" }
        self.time = time
        self.level = event.level
        self.logger = logger
        self.message = event.message.description
        self.traceID = all.removeValue(forKey: "trace_id").map { "\($0)" }
        self.spanID = all.removeValue(forKey: "span_id").map { "\($0)" }
        self.metadata = all.sorted { $0.key < $1.key }
    }
}
