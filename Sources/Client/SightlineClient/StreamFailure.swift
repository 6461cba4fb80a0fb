internal import GRPCCore
internal import GRPCProtobuf
package import WireFormat

/// The error of a stream, classified: retry after a delay, or stop.
package struct StreamFailure: Sendable, Equatable {
    /// Whether a retry may succeed.
    package let isRetryable: Bool
    /// Whether the server itself gave a reason. A status without one comes from a library or a
    /// proxy, and may be temporary whatever its code: an ingress without a backend answers
    /// UNIMPLEMENTED.
    let isOfServer: Bool
    /// The server's retry delay; nil if it gave none.
    let retryDelay: Duration?
    /// The status code's name, e.g. `UNAVAILABLE`.
    package let code: String
    /// The reason as text, with the server's details. It may contain any character.
    package let reason: String
    /// What failed of TLS; nil if something else did.
    package let fault: TLSFault?
    /// Whether a plaintext connection was closed before HTTP/2 began, as a port that speaks TLS
    /// does.
    package let isClosedInPlaintext: Bool

    /// The domain of the server's reasons in ErrorInfo.
    private static let domain = "sightline.v1"

    /// Classifies `error` of a connection with `security`. An error that is not an `RPCError` may
    /// be retried.
    package init(_ error: any Error, security: ClientSecurity) {
        let fault = TLSFault(error)
        self.fault = fault
        self.isClosedInPlaintext = !security.isEncrypted && Self.isBeforeHTTP2(error)
        guard let error = error as? RPCError else {
            self.isRetryable = true
            self.isOfServer = false
            self.retryDelay = nil
            self.code = "UNKNOWN"
            self.reason = String(reasonOf: error)
            return
        }
        // Unreadable details are ignored: the status suffices.
        let details = (try? error.unpackGoogleRPCStatus())?.details ?? []
        let delay = details.lazy.compactMap(\.retryInfo).first?.delay
        self.retryDelay = delay
        self.isOfServer = details.contains { $0.errorInfo?.domain == Self.domain }
        // Expired credentials may have been renewed meanwhile.
        let isExpired = details.contains { $0.errorInfo?.reason == "CREDENTIALS_EXPIRED" }
        self.isRetryable =
            isExpired || Self.isRetryable(error.code, hasRetryDelay: delay != nil)
        self.code = Self.name(of: error.code)
        let own =
            self.isClosedInPlaintext
            ? "the server closed the connection before HTTP/2 began, as a port that speaks TLS does"
            : fault?.description ?? Self.words(of: error)
        self.reason = ([own] + details.flatMap(Self.words)).joined(separator: "; ")
    }

    /// Whether a connection was made, and ended without HTTP/2. The transport says so in its
    /// message alone.
    private static func isBeforeHTTP2(_ error: any Error) -> Bool {
        guard let error = error as? RPCError else { return false }
        return error.code == .unavailable && error.message.contains("HTTP/2 connection preface")
    }

    private static func isRetryable(_ code: RPCError.Code, hasRetryDelay: Bool) -> Bool {
        switch code {
        case .unavailable, .aborted, .cancelled, .deadlineExceeded, .internalError, .unknown:
            return true
        case .resourceExhausted:
            return hasRetryDelay
        default:
            // RPCError.Code is an open struct. Unknown codes are not retried.
            return false
        }
    }

    private static func name(of code: RPCError.Code) -> String {
        var name = ""
        for letter in "\(code)" {
            if letter.isUppercase { name += "_" }
            name += letter.uppercased()
        }
        return name == "INTERNAL_ERROR" ? "INTERNAL" : name
    }

    /// The messages of the error and its first cause, which explains a failed connection. The
    /// library ends its messages with a stop.
    private static func words(of error: RPCError) -> String {
        let message = error.message.hasSuffix(".") ? error.message.dropLast() : error.message[...]
        guard let cause = error.cause else { return String(message) }
        return "\(message) (\(String(reasonOf: cause)))"
    }

    private static func words(of detail: ErrorDetails) -> [String] {
        let fields = (detail.badRequest?.violations ?? []).map {
            "\($0.field): \($0.violationDescription)"
        }
        let quotas = (detail.quotaFailure?.violations ?? []).map {
            "\($0.subject): \($0.violationDescription)"
        }
        return fields + quotas
    }
}
