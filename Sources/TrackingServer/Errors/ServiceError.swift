// The errors that end an RPC, in one table: each has a code, one ErrorInfo, and what a client needs
// to do better (AIP-193). What is wrong with a single event is a verdict instead, and ends nothing.
internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf
internal import HTTP2Edge
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
    /// The server cannot take anything more now.
    case overloaded
    /// The tenant has used up what it may send.
    case quota(QuotaExcess, tenant: Tenant)
    /// The call's metadata is too large.
    case metadata(bytes: Int, maxBytes: Int)
    /// The call's grpc-timeout is none.
    case timeout(String)
    /// The time that the call's client gave it is over; what was acked stays acked.
    case deadlinePassed
    /// The server asks for credentials, and there are none.
    case credentialsMissing
    /// The credentials are not accepted; why is told to the logs alone.
    case credentialsRefused
    /// The credentials expired while the stream ran; what was acked stays acked.
    case credentialsExpired
    /// The credentials are good, and do not allow this.
    case scopeMissing
    /// A message is over the transport's limit in bytes, also once it is decompressed, or it cannot
    /// be read at all.
    case messageTooLarge(limit: Int)
    /// A message cannot be decompressed.
    case messageNotInflated
    /// A message has begun and did not come to its end in time.
    case messageUnfinished(after: Duration)
    /// The health of a service is asked that is not there.
    case serviceUnknown(String)
    /// All watches of health are taken.
    case watchersExceeded(limit: Int)

    /// What a client is told whose credentials are refused.
    init(_ refusal: CredentialRefusal) {
        self =
            switch refusal {
            case .missing: .credentialsMissing
            case .scope: .scopeMissing
            case .ambiguous, .malformed, .tooLong, .unknownKey, .wrongSecret, .revoked, .header,
                .algorithm, .unknownSigner, .signature, .claims, .expired, .notYetValid, .audience,
                .issuer, .tenant, .certificate:
                .credentialsRefused
            }
    }

    /// What the edge ends a call with.
    init(_ refusal: CallRefusal) {
        self =
            switch refusal {
            case .metadataTooLarge(let bytes, let maxBytes):
                .metadata(bytes: bytes, maxBytes: maxBytes)
            case .timeout(let value): .timeout(value)
            case .deadlinePassed: .deadlinePassed
            case .messageTooLarge(let maxBytes): .messageTooLarge(limit: maxBytes)
            case .messageNotInflated: .messageNotInflated
            case .messageUnfinished(let time): .messageUnfinished(after: time)
            case .overloaded: .overloaded
            }
    }

    /// The reason that ErrorInfo carries, stable for ever.
    var reason: Reason {
        switch self {
        case .sequence: .sequenceNotRising
        case .request(let violation):
            violation.code == .tooLarge ? .requestTooLarge : .requestMalformed
        case .messageCount: .messageCount
        case .closing: .serverClosing
        case .overloaded: .overloaded
        case .quota: .quotaExceeded
        case .metadata: .metadataTooLarge
        case .timeout: .requestMalformed
        case .deadlinePassed: .callEnded
        case .credentialsMissing: .credentialsMissing
        case .credentialsRefused: .credentialsRefused
        case .credentialsExpired: .credentialsExpired
        case .scopeMissing: .scopeMissing
        case .messageTooLarge: .requestTooLarge
        case .messageNotInflated: .requestMalformed
        case .messageUnfinished: .messageUnfinished
        case .serviceUnknown: .serviceUnknown
        case .watchersExceeded: .watchersExceeded
        }
    }

    /// The status's code.
    var code: RPCError.Code {
        switch self {
        case .sequence, .messageCount, .messageNotInflated, .timeout: .invalidArgument
        case .request(let violation):
            violation.code == .tooLarge ? .resourceExhausted : .invalidArgument
        case .closing, .overloaded: .unavailable
        case .credentialsMissing, .credentialsRefused, .credentialsExpired: .unauthenticated
        case .scopeMissing: .permissionDenied
        case .quota, .metadata, .messageTooLarge, .watchersExceeded: .resourceExhausted
        case .messageUnfinished, .deadlinePassed: .deadlineExceeded
        case .serviceUnknown: .notFound
        }
    }

    /// What a client needs to do better, beside the reason.
    private var cure: [ErrorDetails] {
        switch self {
        case .sequence: [self.badRequest("sequence")]
        case .request(let violation):
            [
                .badRequest(violations: [
                    .init(field: violation.field, description: violation.description)
                ])
            ]
        case .metadata: [self.badRequest("metadata")]
        case .timeout: [self.badRequest("grpc-timeout")]
        case .messageTooLarge, .messageNotInflated: [self.badRequest("request")]
        case .serviceUnknown: [self.badRequest("service")]
        case .closing: [.retryInfo(delay: .zero)]
        case .overloaded: [.retryInfo(delay: RetryDelay.duration)]
        case .quota(let excess, let tenant):
            [self.quotaFailure("tenant:\(tenant)"), .retryInfo(delay: excess.wait)]
        case .watchersExceeded: [self.quotaFailure("server"), .retryInfo(delay: .seconds(30))]
        case .messageCount, .messageUnfinished, .deadlinePassed, .credentialsMissing,
            .credentialsRefused, .credentialsExpired, .scopeMissing:
            []
        }
    }

    /// The status that the client gets.
    var status: GoogleRPCStatus {
        let info = ErrorDetails.errorInfo(reason: self.reason.rawValue, domain: "sightline.v1")
        return GoogleRPCStatus(
            code: self.code, message: self.message, details: [info] + self.cure)
    }

    private func quotaFailure(_ subject: String) -> ErrorDetails {
        .quotaFailure(violations: [.init(subject: subject, description: self.message)])
    }

    private func badRequest(_ field: String) -> ErrorDetails {
        .badRequest(violations: [.init(field: field, description: self.message)])
    }
}

/// How long clients are asked to wait before events are sent again.
enum RetryDelay {
    static let duration = Duration.seconds(1)
}
