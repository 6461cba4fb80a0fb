// What a client can rely on in every error that ends an RPC (AIP-193).
@testable internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf
internal import Testing
internal import TrackingRules
@testable internal import TrackingServer

struct ServiceErrorTests {
    /// One error, and what it has to look like.
    struct Row: Sendable, CustomTestStringConvertible {
        let error: ServiceError
        let reason: String
        let code: RPCError.Code
        var field: String?
        var retryDelay: Duration?
        var quotaSubject: String?

        var testDescription: String { self.reason }
    }

    @Test("a message quotes little of what a client has sent, also where that is one character")
    func quoted() {
        let name = "e" + String(repeating: "\u{301}", count: 3000)
        #expect(ServiceError.serviceUnknown(name).status.message.utf8.count < 512)
    }

    static let rows = [
        Row(
            error: .sequence(seen: 3, last: 3), reason: "SEQUENCE_NOT_RISING",
            code: .invalidArgument, field: "sequence"),
        Row(
            error: .request(Violation("request", .malformed, "not a message")),
            reason: "REQUEST_MALFORMED", code: .invalidArgument, field: "request"),
        Row(
            error: .request(Violation("platform", .required, "missing")),
            reason: "REQUEST_MALFORMED", code: .invalidArgument, field: "platform"),
        Row(
            error: .request(Violation("events", .tooLarge, "more than 2000 events")),
            reason: "REQUEST_TOO_LARGE", code: .resourceExhausted, field: "events"),
        Row(error: .messageCount, reason: "MESSAGE_COUNT", code: .invalidArgument),
        Row(error: .closing, reason: "SERVER_CLOSING", code: .unavailable, retryDelay: .zero),
        Row(error: .overloaded, reason: "OVERLOADED", code: .unavailable, retryDelay: .seconds(1)),
        Row(
            error: .quota(
                QuotaExcess(rate: .events, perSecond: 10, wait: .seconds(2)), tenant: .standard),
            reason: "QUOTA_EXCEEDED", code: .resourceExhausted, retryDelay: .seconds(2),
            quotaSubject: "tenant:default"),
        Row(
            error: .metadata(bytes: 9000, maxBytes: 8192), reason: "METADATA_TOO_LARGE",
            code: .resourceExhausted, field: "metadata"),
        Row(
            error: .metadataText("x-name"), reason: "METADATA_TOO_LARGE",
            code: .resourceExhausted, field: "metadata"),
        Row(
            error: .timeout("-1S"), reason: "REQUEST_MALFORMED", code: .invalidArgument,
            field: "grpc-timeout"),
        Row(error: .deadlinePassed, reason: "CALL_ENDED", code: .deadlineExceeded),
        Row(error: .credentialsMissing, reason: "CREDENTIALS_MISSING", code: .unauthenticated),
        Row(error: .credentialsRefused, reason: "CREDENTIALS_REFUSED", code: .unauthenticated),
        Row(error: .credentialsExpired, reason: "CREDENTIALS_EXPIRED", code: .unauthenticated),
        Row(error: .scopeMissing(nil), reason: "SCOPE_MISSING", code: .permissionDenied),
        Row(
            error: .messageTooLarge(limit: 1 << 20), reason: "REQUEST_TOO_LARGE",
            code: .resourceExhausted, field: "request"),
        Row(
            error: .messageFlag(1), reason: "REQUEST_MALFORMED", code: .invalidArgument,
            field: "request"),
        Row(
            error: .messageNotInflated, reason: "REQUEST_MALFORMED", code: .invalidArgument,
            field: "request"),
        Row(
            error: .messageUnfinished(after: .seconds(30)), reason: "MESSAGE_UNFINISHED",
            code: .deadlineExceeded),
        Row(
            error: .serviceUnknown("x"), reason: "SERVICE_UNKNOWN", code: .notFound,
            field: "service"),
        Row(
            error: .watchersExceeded(limit: 100), reason: "WATCHERS_EXCEEDED",
            code: .resourceExhausted, retryDelay: .seconds(30), quotaSubject: "server"),
        Row(
            error: .tapsExceeded(limit: 2, key: "tap.max_readers"), reason: "TAPS_EXCEEDED",
            code: .resourceExhausted, retryDelay: .seconds(30), quotaSubject: "server"),
        Row(
            error: .erasureFailed("another subject is being forgotten"), reason: "ERASURE_FAILED",
            code: .unavailable, retryDelay: .seconds(1)),
        Row(
            error: .deliveriesFailed("disk full"), reason: "DELIVERIES_FAILED", code: .unavailable,
            retryDelay: .seconds(1)),
        Row(error: .internalFailure, reason: "INTERNAL_FAILURE", code: .internalError),
    ]

    @Test(
        "each error has its code, one ErrorInfo with a stable reason, and its cure",
        arguments: rows)
    func details(_ row: Row) {
        let status = row.error.status
        let details = status.details
        #expect(status.code == row.code)
        #expect(!status.message.isEmpty)
        #expect(details.compactMap(\.errorInfo).map(\.reason) == [row.reason])
        #expect(details.compactMap(\.errorInfo).map(\.domain) == ["sightline.v1"])
        #expect(row.error.reason.rawValue == row.reason)
        #expect(
            details.compactMap(\.badRequest).flatMap(\.violations).map(\.field)
                == (row.field.map { [$0] } ?? []))
        #expect(
            details.compactMap(\.quotaFailure).flatMap(\.violations).map(\.subject)
                == (row.quotaSubject.map { [$0] } ?? []))
        // Only temporary errors have a retry delay: a client that broke a rule would break it
        // again.
        #expect(details.compactMap(\.retryInfo).map(\.delay) == (row.retryDelay.map { [$0] } ?? []))
    }

    @Test("D53: the error says the sequence that was seen, and the last one")
    func sequence() {
        let message = ServiceError.sequence(seen: 4, last: 9).status.message
        #expect(message.contains("sequence 4") && message.contains("last one was 9"))
    }

    @Test("the error names the scope that a method needs", arguments: Scope.allCases)
    func scope(_ scope: Scope) {
        let message = ServiceError.scopeMissing(scope).status.message
        #expect(
            message
                == "the credentials lack the scope `\(scope.rawValue)`: use others that have it")
    }
}
