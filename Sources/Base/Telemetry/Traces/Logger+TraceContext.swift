package import Logging
internal import ServiceContextModule
internal import W3CTrace

extension Logger.MetadataProvider {
    /// Adds `trace_id`, `span_id` and `trace_flags` of the task's active span to log records, as
    /// OpenTelemetry names them; nothing outside of a span.
    package static let traceContext = Logger.MetadataProvider {
        guard let trace = ServiceContext.current?.traceContext else { return [:] }
        let fields = trace.traceparent.split(separator: "-")
        return [
            "trace_id": "\(fields[1])", "span_id": "\(fields[2])", "trace_flags": "\(fields[3])",
        ]
    }
}
