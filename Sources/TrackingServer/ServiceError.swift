// The errors that end an RPC, in one table: each has a code, one ErrorInfo, and what a client needs
// to do better (AIP-193). What is wrong with a single event is a verdict instead, and ends nothing.
internal import GRPCCore
internal import GRPCProtobuf
internal import TrackingCore

/// Why an RPC ends without its answer.
enum ServiceError {
    /// A stream's request has a sequence of 0, or one that does not rise (D53).
    case sequence(seen: UInt64, last: UInt64)
    /// A unary request breaks a rule as a whole.
    case request(Violation)
    /// A unary RPC without exactly one message.
    case messageCount
    /// The server ends the stream; what was acked stays acked.
    case closing
    /// The journal cannot take anything now.
    case overloaded

    /// The reason that ErrorInfo carries, stable for ever.
    var reason: String {
        switch self {
        case .sequence: "SEQUENCE_NOT_RISING"
        case .request(let violation):
            violation.code == .tooLarge ? "REQUEST_TOO_LARGE" : "REQUEST_MALFORMED"
        case .messageCount: "MESSAGE_COUNT"
        case .closing: "SERVER_CLOSING"
        case .overloaded: "OVERLOADED"
        }
    }

    /// The status that the client gets.
    var status: GoogleRPCStatus {
        let info = ErrorDetails.errorInfo(reason: self.reason, domain: "sightline.v1")
        switch self {
        case .sequence(let seen, let last):
            let rule =
                "sequence \(seen) does not rise: the last one was \(last); start at 1 or above, "
                + "and let each request's be higher than the one before"
            return GoogleRPCStatus(
                code: .invalidArgument, message: rule,
                details: [info, Self.badRequest("sequence", rule)])
        case .request(let violation):
            return GoogleRPCStatus(
                code: violation.code == .tooLarge ? .resourceExhausted : .invalidArgument,
                message: "\(violation.field): \(violation.description)",
                details: [info, Self.badRequest(violation.field, violation.description)])
        case .messageCount:
            let rule = "this method takes exactly one request message"
            return GoogleRPCStatus(code: .invalidArgument, message: rule, details: [info])
        case .closing:
            return GoogleRPCStatus(
                code: .unavailable, message: "the server is closing: connect again and resend",
                details: [info, .retryInfo(delay: .zero)])
        case .overloaded:
            return GoogleRPCStatus(
                code: .unavailable, message: "the journal takes nothing now: send it again later",
                details: [info, .retryInfo(delay: RetryDelay.duration)])
        }
    }

    private static func badRequest(_ field: String, _ description: String) -> ErrorDetails {
        .badRequest(violations: [.init(field: field, description: description)])
    }
}

/// How long clients are asked to wait before events are sent again.
enum RetryDelay {
    static let duration = Duration.seconds(1)
}
