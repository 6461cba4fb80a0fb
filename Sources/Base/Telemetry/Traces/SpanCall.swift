internal import SightlineProtos

/// One call of an OTLP receiver.
protocol SpanCall: Sendable {
    typealias Request = Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceRequest
    typealias Response = Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceResponse

    /// Sends spans once.
    func export(_ request: Request, within timeout: Duration) async throws(SpanCallError)
        -> Response
}

/// Why a call failed, and whether to retry it.
struct SpanCallError: Error, Equatable {
    let failure: ExportFailure
    /// For the log.
    let reason: String
}
