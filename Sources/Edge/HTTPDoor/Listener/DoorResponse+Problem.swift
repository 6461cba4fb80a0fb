internal import HTTPTypes
internal import NIOCore

extension DoorResponse {
    /// An answer of the port itself, as RFC 9457 wants it. It repeats nothing that a client has
    /// sent.
    ///
    /// - Parameters:
    ///   - detail: what is wrong, the rule and the fix, without quotes and backslashes.
    ///   - retryAfter: the seconds after which to try again; nil if that would not help.
    static func problem(
        _ status: HTTPResponse.Status, _ detail: String, retryAfter: Int? = nil
    ) -> DoorResponse {
        var headers: HTTPFields = [.contentType: "application/problem+json"]
        if let retryAfter { headers[.retryAfter] = "\(retryAfter)" }
        return DoorResponse(
            status: status, headers: headers,
            body: ByteBuffer(
                string: "{\"title\":\"\(status.reasonPhrase)\",\"status\":\(status.code),"
                    + "\"detail\":\"\(detail)\"}\n"))
    }
}
