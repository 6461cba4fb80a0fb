internal import GRPCCore
internal import WireFormat

/// Why a stream cannot go on: the backend or the connection failed, or it breaks the protocol.
package struct BackendFailure: Error, Equatable, CustomStringConvertible {
    /// What happened, in our own words and codes: for logs.
    package let description: String
    /// What the backend says of it. It may name a person whose hits it was sent, so no log has it.
    let quote: String
    /// The status of a call that ended with an error.
    let code: RPCError.Code?

    init(_ description: String, quote: String = "", code: RPCError.Code? = nil) {
        self.description = description
        self.quote = quote
        self.code = code
    }

    /// What happened, with the backend's own words: for those who try it with hits of nobody.
    package var whole: String {
        self.quote.isEmpty ? self.description : "\(self.description): \(self.quote)"
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
            if let cause = error.cause {
                // Only what went wrong here has a cause.
                let reason =
                    TLSFault(cause)?.description
                    ?? "\(error.message) (\(String(reasonOf: cause)))"
                self.init("\(error.code): \(reason)", code: error.code)
            } else {
                // The library has no code of its own for an answer that is too long.
                let hint =
                    error.code == .internalError ? ", as of an answer over grpc.answer_bytes" : ""
                self.init("\(error.code)\(hint)", quote: error.message, code: error.code)
            }
        default: self.init(String(reasonOf: error))
        }
    }
}

/// The backend has lost hits that it had acknowledged.
package struct BackendLoss: Error, Equatable {
    /// How we know, in our own words.
    let reason: String
    /// What it says; empty if it says nothing. Like a failure's quote, it is in no log.
    package let quote: String

    init(reason: String, quote: String = "") { (self.reason, self.quote) = (reason, quote) }

    /// It says so itself.
    init(saying quote: String) { self.init(reason: "it has lost hits", quote: quote) }
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
            + "After a restore give the journal a new id "
            + "(\(Documentation.page("operations.md#restore"))), or else let the backend forget "
            + "its position; then resume the sink"
    }
}

/// The backend asks to wait for longer than a delivery may take.
package struct BackendBusy: Error, Equatable {
    let end: ContinuousClock.Instant
}
