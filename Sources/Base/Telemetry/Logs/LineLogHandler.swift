package import Logging

/// A log handler that writes each record as a line, JSON or text.
package struct LineLogHandler: LogHandler {
    /// The format of a record.
    package enum Form: Sendable, Equatable {
        /// A JSON object per line, for log collectors.
        case json
        /// A line of text for people.
        case text(isColored: Bool)
    }

    /// The minimum level.
    package var logLevel = Logger.Level.info
    /// Metadata of every record.
    package var metadata: Logger.Metadata = [:]
    /// Adds contextual metadata such as `trace_id` and `span_id`.
    package var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let service: String
    private let form: Form
    private let now: @Sendable () -> Int64
    private let output: @Sendable ([UInt8]) -> Void

    /// Creates a handler for the logger `label` of a service, whose name is in JSON records.
    package init(
        label: String, service: String = "", form: Form, output: LogOutput = .standardError
    ) {
        self.init(
            label: label, service: service, form: form, now: LogTime.now, output: output.write)
    }

    /// Creates a handler with its own clock (microseconds since 1970) and output.
    init(
        label: String, service: String = "", form: Form, now: @escaping @Sendable () -> Int64,
        output: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.label = label
        self.service = service
        self.form = form
        self.now = now
        self.output = output
    }

    /// Metadata of every record, by key.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    /// Writes a record to the output.
    package func log(event: LogEvent) {
        let record = LogRecord(
            event, logger: self.label, service: self.service, time: self.now(),
            metadata: self.metadata,
            provider: self.metadataProvider)
        switch self.form {
        case .json: self.output(JSONLine.bytes(record))
        case .text(let isColored): self.output(TextLine.bytes(record, isColored: isColored))
        }
    }
}
