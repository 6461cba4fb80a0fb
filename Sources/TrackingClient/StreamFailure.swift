// What the end of a stream means: try again, and when, or stop.
internal import GRPCCore
internal import GRPCProtobuf

/// A stream's error, judged.
struct StreamFailure: Sendable {
    /// Whether the same call may succeed later.
    let isRetryable: Bool
    /// How long the server asks to wait.
    let retryDelay: Duration?
    /// The status code's name, e.g. `UNAVAILABLE`.
    let code: String
    /// The reason in words, with the details that the server gave.
    let reason: String

    init(_ error: any Error) {
        guard let error = error as? RPCError else {
            self.isRetryable = true
            self.retryDelay = nil
            self.code = "UNKNOWN"
            self.reason = "\(error)".printable
            return
        }
        // Details that cannot be read add nothing: the status itself still tells what to do.
        let details = (try? error.unpackGoogleRPCStatus())?.details ?? []
        let delay = details.lazy.compactMap(\.retryInfo).first?.delay
        self.retryDelay = delay
        // Credentials that expired on the way may have been renewed since.
        let isExpired = details.contains { $0.errorInfo?.reason == "CREDENTIALS_EXPIRED" }
        self.isRetryable =
            isExpired || Self.isRetryable(error.code, hasRetryDelay: delay != nil)
        self.code = Self.name(of: error.code)
        let words = [Self.words(of: error)] + details.flatMap(Self.words)
        self.reason = words.joined(separator: "; ").printable
    }

    private static func isRetryable(_ code: RPCError.Code, hasRetryDelay: Bool) -> Bool {
        switch code {
        case .unavailable, .aborted, .cancelled, .deadlineExceeded, .internalError, .unknown:
            return true
        case .resourceExhausted:
            return hasRetryDelay
        default:
            // RPCError.Code is an open struct. What is not known to pass by itself is final.
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

    /// The error's own words and those of its first cause, which for a connection says why.
    private static func words(of error: RPCError) -> String {
        guard let cause = error.cause else { return error.message }
        return "\(error.message) (\(cause))"
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
