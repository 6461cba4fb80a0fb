internal import GRPCCore
internal import HTTPTypes

/// A status's code as Connect writes it, and the HTTP status that goes with it.
struct ConnectCode: Equatable {
    /// The code's name in an error's JSON.
    let name: String
    /// The HTTP status of an answer with that error.
    let httpStatus: Int

    private static let unknown = ConnectCode(name: "unknown", httpStatus: 500)
    /// The table of Connect's protocol; it has no OK, which is no error.
    private static let table: [Status.Code: ConnectCode] = [
        .cancelled: ConnectCode(name: "canceled", httpStatus: 499),
        .unknown: Self.unknown,
        .invalidArgument: ConnectCode(name: "invalid_argument", httpStatus: 400),
        .deadlineExceeded: ConnectCode(name: "deadline_exceeded", httpStatus: 504),
        .notFound: ConnectCode(name: "not_found", httpStatus: 404),
        .alreadyExists: ConnectCode(name: "already_exists", httpStatus: 409),
        .permissionDenied: ConnectCode(name: "permission_denied", httpStatus: 403),
        .resourceExhausted: ConnectCode(name: "resource_exhausted", httpStatus: 429),
        .failedPrecondition: ConnectCode(name: "failed_precondition", httpStatus: 400),
        .aborted: ConnectCode(name: "aborted", httpStatus: 409),
        .outOfRange: ConnectCode(name: "out_of_range", httpStatus: 400),
        .unimplemented: ConnectCode(name: "unimplemented", httpStatus: 501),
        .internalError: ConnectCode(name: "internal", httpStatus: 500),
        .unavailable: ConnectCode(name: "unavailable", httpStatus: 503),
        .dataLoss: ConnectCode(name: "data_loss", httpStatus: 500),
        .unauthenticated: ConnectCode(name: "unauthenticated", httpStatus: 401),
    ]

    /// The code of a failed call.
    static func of(_ code: Status.Code) -> ConnectCode { Self.table[code] ?? Self.unknown }

    /// The status of an answer with this error.
    var status: HTTPResponse.Status { HTTPResponse.Status(code: self.httpStatus) }
}
