// The errors of calls as problems: their codes, reasons and details are those of docs/errors.md.
internal import GRPCCore
internal import GRPCProtobuf
internal import HTTPTypes

extension Problem {
    /// A status that says more than that of the reason's code.
    private static func status(of reason: String) -> HTTPResponse.Status? {
        switch reason {
        case "MESSAGE_UNFINISHED": .requestTimeout
        case "METADATA_TOO_LARGE": .requestHeaderFieldsTooLarge
        case "REQUEST_TOO_LARGE": .contentTooLarge
        default: nil
        }
    }

    /// The problem of a call that failed.
    package init(_ answer: DoorAnswer) {
        let code = RPCError.Code(answer.status.code) ?? .unknown
        let error = RPCError(
            code: code, message: answer.status.message, metadata: answer.metadata)
        // Our own services write the details. Without them the code says what there is to say.
        let details = (try? error.unpackGoogleRPCStatus())?.details ?? []
        let reason = details.lazy.compactMap(\.errorInfo).first?.reason ?? "INTERNAL_FAILURE"
        self.init(
            Self.status(of: reason) ?? ConnectCode.of(answer.status.code).status, reason,
            answer.status.message)
        self.violations = details.compactMap(\.badRequest).flatMap(\.violations).map {
            Violation(field: $0.field, description: $0.violationDescription)
        }
        self.retryDelay = details.lazy.compactMap(\.retryInfo).first?.delay
        // RFC 9110, section 11.6.1: a 401 names a scheme.
        if self.status == .unauthorized { self.headers[.wwwAuthenticate] = "Bearer" }
    }
}
