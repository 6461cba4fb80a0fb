internal import GRPCCore

/// Why a stream cannot go on: the backend or the connection failed, or it breaks the protocol.
struct BackendFailure: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension BackendFailure {
    /// The backend ended a stream with OK.
    static let inOrder = BackendFailure("it ended the stream")
    /// Whether a stream ended with OK.
    var isInOrder: Bool { self == .inOrder }

    /// Why a call ended with an error.
    init(of error: any Error) {
        switch error {
        case let failure as BackendFailure: self = failure
        case let error as RPCError:
            let cause = error.cause.map { " (\($0))" } ?? ""
            self.init("\(error.code): \(error.message)\(cause)")
        default: self.init("\(error)")
        }
    }
}

/// The backend has lost hits that it had acknowledged.
struct BackendLoss: Error, Equatable {
    let reason: String
}

/// The backend asks to wait for longer than a delivery may take.
struct BackendBusy: Error, Equatable {
    let end: ContinuousClock.Instant
}
