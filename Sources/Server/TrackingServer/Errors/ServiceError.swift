// The errors that end an RPC. Each has a code, an ErrorInfo, and details that help the client
// (AIP-193). A problem with a single event is a verdict instead and ends nothing.
internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf
internal import HTTP2Edge
internal import TrackingRules

/// Why an RPC failed.
enum ServiceError {
    /// A stream's request has sequence 0, or one that does not increase (D53).
    case sequence(seen: UInt64, last: UInt64)
    /// A unary request was refused as a whole.
    case request(Violation)
    /// A unary RPC did not have exactly one message.
    case messageCount
    /// The server closes the stream; acknowledged requests stay acknowledged.
    case closing
    /// The server is at a limit and accepts nothing more now.
    case overloaded
    /// The tenant's quota is used up.
    case quota(QuotaExcess, tenant: Tenant)
    /// The call's metadata is too large.
    case metadata(bytes: Int, maxBytes: Int)
    /// The value of this name of the call's head has too many bytes beyond ASCII.
    case metadataText(String)
    /// The call's grpc-timeout is malformed.
    case timeout(String)
    /// The call's deadline has passed; acknowledged requests stay acknowledged.
    case deadlinePassed
    /// The server requires credentials, and the call has none.
    case credentialsMissing
    /// The credentials were refused; only the log has the reason.
    case credentialsRefused
    /// The credentials expired during the stream; acknowledged requests stay acknowledged.
    case credentialsExpired
    /// The credentials lack a scope: one that the method needs, or nil for auth.required_scope.
    case scopeMissing(Scope?)
    /// A message exceeds the transport's limit, compressed or inflated.
    case messageTooLarge(limit: Int)
    /// A message's flag is neither 0 nor, in a call that names a compression, 1.
    case messageFlag(UInt8)
    /// A message cannot be decompressed.
    case messageNotInflated
    /// A message was not completed in time.
    case messageUnfinished(after: Duration)
    /// A health check names an unknown service.
    case serviceUnknown(String)
    /// The maximum number of health watches is open.
    case watchersExceeded(limit: Int)
    /// The maximum number of readers of verdicts is there.
    case tapsExceeded(limit: Int, key: String)
    /// A subject cannot be forgotten now.
    case erasureFailed(String)
    /// Totals of deliveries cannot be written now.
    case deliveriesFailed(String)
    /// The gRPC library cannot read data in which nothing is wrong.
    case internalFailure

    /// The client-visible error of refused credentials.
    init(_ refusal: CredentialRefusal) {
        self =
            switch refusal {
            case .missing: .credentialsMissing
            case .scope: .scopeMissing(nil)
            case .ambiguous, .malformed, .tooLong, .unknownKey, .wrongSecret, .revoked, .header,
                .algorithm, .unknownSigner, .signature, .claims, .expired, .notYetValid, .audience,
                .issuer, .tenant, .certificate:
                .credentialsRefused
            }
    }

    /// The error for a call that the edge ends.
    init(_ refusal: CallRefusal) {
        self =
            switch refusal {
            case .metadataTooLarge(let bytes, let maxBytes):
                .metadata(bytes: bytes, maxBytes: maxBytes)
            case .metadataText(let name): .metadataText(name)
            case .timeout(let value): .timeout(value)
            case .deadlinePassed: .deadlinePassed
            case .messageTooLarge(let maxBytes): .messageTooLarge(limit: maxBytes)
            case .messageFlag(let flag): .messageFlag(flag)
            case .messageNotInflated: .messageNotInflated
            case .messageUnfinished(let time): .messageUnfinished(after: time)
            case .overloaded: .overloaded
            case .closing: .closing
            case .internalFailure: .internalFailure
            }
    }

    /// The reason in ErrorInfo; never changes.
    var reason: Reason {
        switch self {
        case .sequence: .sequenceNotRising
        case .request(let violation):
            violation.code == .tooLarge ? .requestTooLarge : .requestMalformed
        case .messageCount: .messageCount
        case .closing: .serverClosing
        case .overloaded: .overloaded
        case .quota: .quotaExceeded
        case .metadata, .metadataText: .metadataTooLarge
        case .timeout: .requestMalformed
        case .deadlinePassed: .callEnded
        case .credentialsMissing: .credentialsMissing
        case .credentialsRefused: .credentialsRefused
        case .credentialsExpired: .credentialsExpired
        case .scopeMissing: .scopeMissing
        case .messageTooLarge: .requestTooLarge
        case .messageFlag, .messageNotInflated: .requestMalformed
        case .messageUnfinished: .messageUnfinished
        case .serviceUnknown: .serviceUnknown
        case .watchersExceeded: .watchersExceeded
        case .tapsExceeded: .tapsExceeded
        case .erasureFailed: .erasureFailed
        case .deliveriesFailed: .deliveriesFailed
        case .internalFailure: .internalFailure
        }
    }

    /// The status's code.
    var code: RPCError.Code {
        switch self {
        case .sequence, .messageCount, .messageFlag, .messageNotInflated, .timeout:
            .invalidArgument
        case .request(let violation):
            violation.code == .tooLarge ? .resourceExhausted : .invalidArgument
        case .closing, .overloaded, .erasureFailed, .deliveriesFailed: .unavailable
        case .credentialsMissing, .credentialsRefused, .credentialsExpired: .unauthenticated
        case .scopeMissing: .permissionDenied
        case .quota, .metadata, .metadataText, .messageTooLarge, .watchersExceeded, .tapsExceeded:
            .resourceExhausted
        case .messageUnfinished, .deadlinePassed: .deadlineExceeded
        case .serviceUnknown: .notFound
        case .internalFailure: .internalError
        }
    }

    /// Details that tell a client how to fix the call.
    private var cure: [ErrorDetails] {
        switch self {
        case .sequence: [self.badRequest("sequence")]
        case .request(let violation):
            [
                .badRequest(violations: [
                    .init(field: violation.field, description: violation.description)
                ])
            ]
        case .metadata, .metadataText: [self.badRequest("metadata")]
        case .timeout: [self.badRequest("grpc-timeout")]
        case .messageTooLarge, .messageFlag, .messageNotInflated: [self.badRequest("request")]
        case .serviceUnknown: [self.badRequest("service")]
        case .closing: [.retryInfo(delay: .zero)]
        case .overloaded, .erasureFailed, .deliveriesFailed:
            [.retryInfo(delay: RetryDelay.duration)]
        case .quota(let excess, let tenant):
            [self.quotaFailure("tenant:\(tenant)"), .retryInfo(delay: excess.wait)]
        case .watchersExceeded, .tapsExceeded:
            [self.quotaFailure("server"), .retryInfo(delay: .seconds(30))]
        case .messageCount, .messageUnfinished, .deadlinePassed, .credentialsMissing,
            .credentialsRefused, .credentialsExpired, .scopeMissing, .internalFailure:
            []
        }
    }

    /// The status as the client receives it.
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

/// The delay that clients are asked to wait before they retry.
enum RetryDelay {
    static let duration = Duration.seconds(1)
}
