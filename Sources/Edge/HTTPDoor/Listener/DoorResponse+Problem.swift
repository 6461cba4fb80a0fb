internal import HTTPTypes

extension DoorResponse {
    /// An answer of the port itself, with the reason of docs/errors.md that goes with its status.
    /// It repeats nothing that a client has sent.
    ///
    /// - Parameters:
    ///   - detail: what is wrong, the rule and the fix.
    ///   - retryAfter: the seconds after which to try again; nil if that would not help.
    static func problem(
        _ status: HTTPResponse.Status, _ detail: String, retryAfter: Int? = nil
    ) -> DoorResponse {
        var problem = Problem(status, Self.reason(of: status), detail)
        problem.retryDelay = retryAfter.map { .seconds($0) }
        return problem.response()
    }

    private static func reason(of status: HTTPResponse.Status) -> String {
        switch status {
        case .notFound: "PATH_UNKNOWN"
        case .requestTimeout: "MESSAGE_UNFINISHED"
        case .contentTooLarge: "REQUEST_TOO_LARGE"
        case .requestHeaderFieldsTooLarge: "METADATA_TOO_LARGE"
        case .notImplemented: "UNIMPLEMENTED"
        case .serviceUnavailable: "OVERLOADED"
        default: "REQUEST_MALFORMED"
        }
    }
}
