package import GRPCCore

extension Status.Code {
    private static let names = [
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
        "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
        "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
        "UNAUTHENTICATED",
    ]

    /// The name, e.g. `NOT_FOUND`.
    package var name: String {
        Self.names.indices.contains(self.rawValue) ? Self.names[self.rawValue] : "UNKNOWN"
    }

    /// Whether it is a server error (semantic conventions for gRPC).
    package var isServerError: Bool {
        switch self {
        case .unknown, .deadlineExceeded, .unimplemented, .internalError, .unavailable, .dataLoss:
            true
        default: false
        }
    }

    /// The code that gRPC sends for a handler's error.
    package init(_ error: any Error) {
        switch error {
        case let error as RPCError: self = Status.Code(error.code)
        case let error as any RPCErrorConvertible: self = Status.Code(error.rpcErrorCode)
        case is CancellationError: self = .cancelled
        default: self = .unknown
        }
    }
}
