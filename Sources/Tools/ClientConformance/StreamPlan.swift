internal import GRPCCore
internal import GRPCProtobuf

/// What the server does with one stream.
struct StreamPlan: Sendable {
    var limits = ToldLimits()
    /// Ends the call before anything else.
    var refusal: Refusal?
    /// The watermark of the first answer: one that is not 0 is beyond what was sent.
    var firstWatermark: UInt64 = 0
    /// How long a request waits for its answer.
    var answerDelay: Duration = .zero
    /// Requests that one answer settles.
    var requestsPerAnswer = 1
    /// The number of the request, from 1, that is refused as a whole.
    var refusedRequest: Int?
    /// Whether answers have fields, and results numbers, that this version does not know.
    var isNewer = false
    /// The bytes of a field in the first answer that this version does not know.
    var paddingBytes = 0
    /// How the server ends the stream; nil: as the client does.
    var end: PlannedEnd?
}

/// The limits that a stream's first answer tells.
struct ToldLimits: Sendable, Equatable {
    var maxEvents = 5
    var maxRequestBytes = 64 << 10
    var maxRequests = 8
}

/// How the server ends a stream, once it has answered some requests.
struct PlannedEnd: Sendable {
    enum Manner: Sendable {
        /// The connection is cut; what was not answered may have been recorded all the same. Then
        /// nobody listens for a while.
        case cut(isRecorded: Bool, absence: Duration)
        /// GOAWAY, and later a cut.
        case goAway
        case status(Refusal)
        /// `closing` is announced, with its grace.
        case closing(grace: Duration)
    }

    /// Requests that are answered before.
    let answers: Int
    let manner: Manner
}

/// A status that ends a call, as the real server would say it.
struct Refusal: Sendable, Equatable {
    let code: RPCError.Code
    /// The reason in ErrorInfo; nil where a proxy says it.
    var reason: String?
    /// RetryInfo's delay.
    var retryDelay: Duration?
    /// Whether the same client cannot succeed.
    var isFinal = false

    static let sequence = Refusal(
        code: .invalidArgument, reason: "SEQUENCE_NOT_RISING", isFinal: true)
    static let closing = Refusal(
        code: .unavailable, reason: "SERVER_CLOSING", retryDelay: .zero)
    static let credentials = Refusal(
        code: .unauthenticated, reason: "CREDENTIALS_REFUSED", isFinal: true)
    static let scope = Refusal(code: .permissionDenied, reason: "SCOPE_MISSING", isFinal: true)
    static let malformed = Refusal(
        code: .invalidArgument, reason: "REQUEST_MALFORMED", isFinal: true)
    static let proxy = Refusal(code: .unavailable)

    static func overloaded(_ delay: Duration) -> Refusal {
        Refusal(code: .unavailable, reason: "OVERLOADED", retryDelay: delay)
    }

    static func quota(_ delay: Duration) -> Refusal {
        Refusal(code: .resourceExhausted, reason: "QUOTA_EXCEEDED", retryDelay: delay)
    }

    /// The status's code and reason, in words.
    var name: String { ["\(self.code)", self.reason].compactMap(\.self).joined(separator: " ") }

    /// What the call ends with.
    var error: any Error {
        guard let reason else { return RPCError(code: self.code, message: "no healthy upstream") }
        let info = ErrorDetails.errorInfo(reason: reason, domain: "sightline.v1")
        let delay = self.retryDelay.map { [ErrorDetails.retryInfo(delay: $0)] } ?? []
        return GoogleRPCStatus(
            code: self.code, message: "the conformance kit says \(reason)", details: [info] + delay)
    }
}
