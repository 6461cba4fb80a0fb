internal import GRPCCore
internal import GRPCProtobuf

/// Whether to retry a failed export, by OTLP's table of status codes.
enum ExportFailure: Equatable {
    /// Retry, after the receiver's delay if it gave one, else after the exporter's own.
    case transient(retryAfter: Duration?)
    /// Do not retry: the receiver would refuse the spans again.
    case permanent

    /// Classifies a status (OTLP specification, section Failures of OTLP/gRPC).
    init(_ error: RPCError) {
        let retryAfter = Self.retryDelay(in: error)
        switch error.code {
        case .cancelled, .deadlineExceeded, .aborted, .outOfRange, .unavailable, .dataLoss:
            self = .transient(retryAfter: retryAfter)
        case .resourceExhausted where retryAfter != nil:
            // Without a delay, the receiver can never accept so much at once.
            self = .transient(retryAfter: retryAfter)
        default:
            self = .permanent
        }
    }

    private static func retryDelay(in error: RPCError) -> Duration? {
        // Unreadable details are ignored.
        guard let status = try? error.unpackGoogleRPCStatus() else { return nil }
        return status.details.lazy.compactMap { $0.retryInfo?.delay }.first.map { max($0, .zero) }
    }
}
