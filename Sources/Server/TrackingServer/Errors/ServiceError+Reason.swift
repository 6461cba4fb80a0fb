// The reasons in ErrorInfo. A test compares them with the rows of docs/errors.md.

extension ServiceError {
    /// Why an RPC failed, as a constant that never changes.
    enum Reason: String, CaseIterable {
        case sequenceNotRising = "SEQUENCE_NOT_RISING"
        case requestTooLarge = "REQUEST_TOO_LARGE"
        case requestMalformed = "REQUEST_MALFORMED"
        case messageCount = "MESSAGE_COUNT"
        case messageUnfinished = "MESSAGE_UNFINISHED"
        case serverClosing = "SERVER_CLOSING"
        case overloaded = "OVERLOADED"
        case quotaExceeded = "QUOTA_EXCEEDED"
        case metadataTooLarge = "METADATA_TOO_LARGE"
        case credentialsMissing = "CREDENTIALS_MISSING"
        case credentialsRefused = "CREDENTIALS_REFUSED"
        case credentialsExpired = "CREDENTIALS_EXPIRED"
        case scopeMissing = "SCOPE_MISSING"
        case serviceUnknown = "SERVICE_UNKNOWN"
        case watchersExceeded = "WATCHERS_EXCEEDED"
        case tapsExceeded = "TAPS_EXCEEDED"
        case erasureFailed = "ERASURE_FAILED"
        case deliveriesFailed = "DELIVERIES_FAILED"
        // For calls that the gRPC library ends itself: see EdgeTrailers.
        case unimplemented = "UNIMPLEMENTED"
        case callEnded = "CALL_ENDED"
        case internalFailure = "INTERNAL_FAILURE"
    }
}
