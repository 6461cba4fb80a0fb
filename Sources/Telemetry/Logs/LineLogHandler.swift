// The handler behind every logger: a record becomes one line.
package import Logging

/// Writes each record as a line of JSON, or as text for people.
package struct LineLogHandler: LogHandler {
    /// How a record is written.
    package enum Form: Sendable, Equatable {
        /// An object per line, for collectors.
        case json
        /// A readable line.
        case text(isColored: Bool)
    }

    /// The least severe level that is written.
    package var logLevel = Logger.Level.info
    /// What every record carries.
    package var metadata: Logger.Metadata = [:]
    /// What adds to a record what is known of its surroundings, such as `trace_id`, `span_id`.
    package var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let form: Form
    private let now: @Sendable () -> Int64
    private let output: @Sendable ([UInt8]) -> Void

    /// A handler for the logger `label`.
    package init(label: String, form: Form, output: LogOutput = .standardError) {
        self.init(label: label, form: form, now: LogTime.now, output: output.write)
    }

    /// A handler with a clock (microseconds since 1970) and an output of its own.
    init(
        label: String, form: Form, now: @escaping @Sendable () -> Int64,
        output: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.label = label
        self.form = form
        self.now = now
        self.output = output
    }

    /// A value that every record carries.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    /// Writes a record.
    package func log(event: LogEvent) {
        let record = LogRecord(
            event, logger: self.label, time: self.now(), metadata: self.metadata,
            provider: self.metadataProvider)
        switch self.form {
        case .json: self.output(JSONLine.bytes(record))
        case .text(let isColored): self.output(TextLine.bytes(record, isColored: isColored))
        }
    }
}
