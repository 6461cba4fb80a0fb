// OTLP's table of what is sent again.
internal import GRPCCore
internal import GRPCProtobuf
internal import NIOHTTP1
@testable internal import Telemetry
internal import Testing

struct ExportFailureTests {
    struct Row: Sendable, CustomStringConvertible {
        let code: RPCError.Code
        var delay: Duration?
        let failure: ExportFailure

        var description: String { "\(self.code), \(self.delay.map { "\($0)" } ?? "no RetryInfo")" }

        var error: RPCError {
            let details: [ErrorDetails] = self.delay.map { [.retryInfo(delay: $0)] } ?? []
            return RPCError(
                GoogleRPCStatus(code: self.code, message: "told by a test", details: details))
        }
    }

    static let rows: [Row] = [
        Row(code: .cancelled, failure: .transient(retryAfter: nil)),
        Row(code: .deadlineExceeded, failure: .transient(retryAfter: nil)),
        Row(code: .aborted, failure: .transient(retryAfter: nil)),
        Row(code: .outOfRange, failure: .transient(retryAfter: nil)),
        Row(code: .unavailable, failure: .transient(retryAfter: nil)),
        Row(code: .dataLoss, failure: .transient(retryAfter: nil)),
        Row(
            code: .unavailable, delay: .seconds(7),
            failure: .transient(retryAfter: .seconds(7))),
        Row(code: .unavailable, delay: .seconds(-7), failure: .transient(retryAfter: .zero)),
        Row(code: .resourceExhausted, failure: .permanent),
        Row(
            code: .resourceExhausted, delay: .milliseconds(1500),
            failure: .transient(retryAfter: .milliseconds(1500))),
        Row(code: .unknown, failure: .permanent),
        Row(code: .invalidArgument, failure: .permanent),
        Row(code: .invalidArgument, delay: .seconds(1), failure: .permanent),
        Row(code: .notFound, failure: .permanent),
        Row(code: .alreadyExists, failure: .permanent),
        Row(code: .permissionDenied, failure: .permanent),
        Row(code: .unauthenticated, failure: .permanent),
        Row(code: .failedPrecondition, failure: .permanent),
        Row(code: .unimplemented, failure: .permanent),
        Row(code: .internalError, failure: .permanent),
    ]

    @Test("a status is sent again by OTLP's table", arguments: rows)
    func table(_ row: Row) { #expect(ExportFailure(row.error) == row.failure) }

    @Test(
        "a status of HTTP is sent again by OTLP's table",
        arguments: [
            (429, nil, ExportFailure.transient(retryAfter: nil)),
            (429, "3", .transient(retryAfter: .seconds(3))),
            (502, "-3", .transient(retryAfter: .zero)),
            (503, "Wed, 21 Oct 2026 07:28:00 GMT", .transient(retryAfter: nil)),
            (504, nil, .transient(retryAfter: nil)), (400, "3", .permanent),
            (401, nil, .permanent), (404, nil, .permanent), (413, nil, .permanent),
            (500, nil, .permanent), (301, nil, .permanent),
        ] as [(Int, String?, ExportFailure)])
    func http(_ status: Int, _ retryAfter: String?, _ failure: ExportFailure) {
        let headers = HTTPHeaders(retryAfter.map { [("Retry-After", $0)] } ?? [])
        let error = SpanCallError(HTTPResponseStatus(statusCode: status), headers)
        #expect(error.failure == failure && error.reason.contains("\(status)"))
    }

    @Test("details that cannot be read are as good as none")
    func brokenDetails() {
        var metadata = Metadata()
        metadata.addBinary([0xff, 0xff], forKey: "grpc-status-details-bin")
        let error = RPCError(code: .resourceExhausted, message: "", metadata: metadata)
        #expect(ExportFailure(error) == .permanent)
    }
}
