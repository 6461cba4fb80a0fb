// What a failed export asks for, by OTLP's table of status codes.
internal import GRPCCore
internal import GRPCProtobuf

/// Whether spans that a receiver has not taken are sent again.
enum ExportFailure: Equatable {
    /// Again, after a pause that the receiver asked for, or else the exporter's own.
    case transient(retryAfter: Duration?)
    /// Never: the receiver would refuse them again.
    case permanent

    /// Judges a status (OTLP specification, section Failures of OTLP/gRPC).
    init(_ error: RPCError) {
        let retryAfter = Self.retryDelay(in: error)
        switch error.code {
        case .cancelled, .deadlineExceeded, .aborted, .outOfRange, .unavailable, .dataLoss:
            self = .transient(retryAfter: retryAfter)
        case .resourceExhausted where retryAfter != nil:
            // Without a time the receiver means that it will never take so much at once.
            self = .transient(retryAfter: retryAfter)
        default:
            self = .permanent
        }
    }

    private static func retryDelay(in error: RPCError) -> Duration? {
        // Details that cannot be read are as good as none.
        guard let status = try? error.unpackGoogleRPCStatus() else { return nil }
        return status.details.lazy.compactMap { $0.retryInfo?.delay }.first.map { max($0, .zero) }
    }
}
