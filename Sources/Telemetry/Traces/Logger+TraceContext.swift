// Log lines that name the span in which they were written.
package import Logging
internal import ServiceContextModule
internal import TrackingCore

extension Logger.MetadataProvider {
    /// Gives `trace_id`, `span_id` and `trace_flags` of the task's active span, as OpenTelemetry
    /// names them in logs of other formats; nothing outside of a span.
    package static let traceContext = Logger.MetadataProvider {
        guard let trace = ServiceContext.current?.traceContext else { return [:] }
        let fields = trace.traceparent.split(separator: "-")
        return [
            "trace_id": "\(fields[1])", "span_id": "\(fields[2])", "trace_flags": "\(fields[3])",
        ]
    }
}
