// The errors of calls as problems of HTTP.
internal import Foundation
internal import GRPCCore
internal import GRPCProtobuf
internal import HTTPDoor
internal import HTTPTypes
internal import JSON
internal import NIOCore
internal import Testing

struct ProblemTests {
    private static func answer(
        _ code: RPCError.Code, _ reason: String, _ details: [ErrorDetails] = []
    ) -> DoorAnswer {
        let info = ErrorDetails.errorInfo(reason: reason, domain: "sightline.v1")
        let status = GoogleRPCStatus(code: code, message: "words", details: [info] + details)
        return DoorAnswer(
            message: nil, status: Status(code: Status.Code(code), message: "words"),
            metadata: status.rpcErrorMetadata)
    }

    @Test(
        "a call's error has the status of its reason, or of its code",
        arguments: [
            (RPCError.Code.invalidArgument, "REQUEST_MALFORMED", 400),
            (.resourceExhausted, "REQUEST_TOO_LARGE", 413),
            (.resourceExhausted, "METADATA_TOO_LARGE", 431),
            (.resourceExhausted, "QUOTA_EXCEEDED", 429),
            (.deadlineExceeded, "MESSAGE_UNFINISHED", 408), (.deadlineExceeded, "CALL_ENDED", 504),
            (.unauthenticated, "CREDENTIALS_MISSING", 401),
            (.permissionDenied, "SCOPE_MISSING", 403),
            (.unavailable, "OVERLOADED", 503), (.unavailable, "SERVER_CLOSING", 503),
            (.internalError, "INTERNAL_FAILURE", 500), (.cancelled, "CALL_ENDED", 499),
        ])
    func statuses(code: RPCError.Code, reason: String, status: Int) throws {
        let response = Problem(Self.answer(code, reason)).response()
        #expect(response.status.code == status)
        #expect(response.headers[.contentType] == "application/problem+json")
        #expect((response.headers[.wwwAuthenticate] == "Bearer") == (status == 401))
        let json = try JSONValue(payload: Array(response.body.readableBytesView)).objectValue
        #expect(json?["reason"] == .string(reason) && json?["detail"] == "words")
        #expect(json?["status"] == .integer(Int64(status)))
        let type = try #require(json?["type"]?.stringValue)
        #expect(type.hasSuffix("/docs/errors.md#\(reason.lowercased())"))
    }

    @Test("each problem of the page of errors has its anchor there")
    func anchors() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/errors.md"), encoding: .utf8)
        let reasons = page.matches(of: /\| `([A-Z_]+)` \|/).map { String($0.1) }
        #expect(reasons.count > 20)
        for reason in reasons {
            let hasAnchor = page.contains("<a id=\"\(reason.lowercased())\"></a>")
            #expect(hasAnchor, "\(reason)")
        }
        for own in ["MEDIA_TYPE_UNSUPPORTED", "METHOD_NOT_ALLOWED", "PATH_UNKNOWN"] {
            #expect(reasons.contains(own), "\(own)")
        }
    }

    @Test(
        "a delay is told in whole seconds, rounded up",
        arguments: [
            (Duration.seconds(1), "1"), (.milliseconds(1), "1"), (.milliseconds(1001), "2"),
            (.zero, "1"), (.seconds(30), "30"),
        ])
    func delays(delay: Duration, seconds: String) {
        let answer = Self.answer(.unavailable, "OVERLOADED", [.retryInfo(delay: delay)])
        #expect(Problem(answer).response().headers[.retryAfter] == seconds)
    }

    @Test("fields that are wrong are told; without details the code says what there is to say")
    func violations() {
        let field = ErrorDetails.badRequest(violations: [
            .init(field: "events", description: "many")
        ])
        let answer = Self.answer(.invalidArgument, "REQUEST_MALFORMED", [field])
        #expect(Problem(answer).violations == [.init(field: "events", description: "many")])
        let bare = DoorAnswer(message: nil, status: Status(code: .unavailable, message: "away"))
        #expect(Problem(bare).status == .serviceUnavailable && Problem(bare).detail == "away")
        #expect(Problem(bare).response().headers[.retryAfter] == nil)
    }
}
