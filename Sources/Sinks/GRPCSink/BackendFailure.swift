internal import GRPCCore

/// Why a stream cannot go on: the backend or the connection failed, or it breaks the protocol.
package struct BackendFailure: Error, Equatable, CustomStringConvertible {
    /// What happened, in words.
    package let description: String
    /// The status of a call that ended with an error.
    let code: RPCError.Code?

    init(_ description: String, code: RPCError.Code? = nil) {
        self.description = description
        self.code = code
    }
}

extension BackendFailure {
    /// The backend ended a stream with OK.
    static let inOrder = BackendFailure("it ended the stream")
    /// Whether a stream ended with OK.
    package var isInOrder: Bool { self == .inOrder }
    /// The backend did not answer Hello.
    static let noWelcome = BackendFailure("no Welcome within grpc.connect_seconds")
    /// Whether no backend of this protocol has answered at all.
    package var isAbsence: Bool {
        self == .noWelcome || self.code == .unavailable || self.code == .unimplemented
    }

    /// Why a call ended with an error.
    init(of error: any Error) {
        switch error {
        case let failure as BackendFailure: self = failure
        case let error as RPCError:
            let cause = error.cause.map { " (\($0))" } ?? ""
            self.init("\(error.code): \(error.message)\(cause)", code: error.code)
        default: self.init("\(error)")
        }
    }
}

/// The backend has lost hits that it had acknowledged.
package struct BackendLoss: Error, Equatable {
    /// Why, as it says.
    package let reason: String
}

/// The backend says that it has hits which the journal does not have.
struct BackendAhead: Error, Equatable, CustomStringConvertible {
    /// Where the backend says it is.
    let durable: HitPosition
    /// The journal of its stream.
    let journal: String
    /// The sequence of that journal's newest group.
    let newest: Int64

    /// What happened, why nothing is sent, and the fix.
    var description: String {
        "its Welcome says that it has hits up to \(self.durable) of the journal \(self.journal), "
            + "whose newest group is \(self.newest): either its position is wrong, or the journal "
            + "is an older copy of what it was. Nothing is sent, since hits would be left out. "
            + "After a restore give the journal a new id (docs/operations.md#restore), or else let "
            + "the backend forget its position; then resume the sink"
    }
}

/// The backend asks to wait for longer than a delivery may take.
package struct BackendBusy: Error, Equatable {
    let end: ContinuousClock.Instant
}
