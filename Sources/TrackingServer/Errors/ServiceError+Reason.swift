// The reasons that ErrorInfo carries. docs/errors.md has a row for each, and a test holds the two
// together.

extension ServiceError {
    /// Why an RPC ends without its answer, in one word that is stable for ever.
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
        // The rest are given to what the gRPC library ends by itself: see EdgeTrailers.
        case unimplemented = "UNIMPLEMENTED"
        case callEnded = "CALL_ENDED"
        case internalFailure = "INTERNAL_FAILURE"
    }
}
