internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// What a request of HTTP/1 must not be, beyond what NIO's decoder refuses: forms that another
/// server in front of this one may read differently, as in request smuggling.
///
/// The decoder (swift-nio 2.101.2) refuses two lengths, a length beside Transfer-Encoding, folded
/// lines, bare LF and CR, spaces before a colon, and other versions. `test_http_listener.py` tries
/// each of them.
enum HTTP1HeadRule {
    /// The refusal of a request; nil if it is in order.
    static func refusal(of head: HTTPRequestHead) -> DoorResponse? {
        let codings = head.headers["transfer-encoding"]
        if !codings.isEmpty {
            guard head.version == .http1_1 else {
                return .problem(
                    .badRequest, "Transfer-Encoding is of HTTP/1.1: send Content-Length")
            }
            // The decoder takes any list that ends with chunked, and undoes chunked alone.
            guard codings.count == 1, codings[0].lowercased() == "chunked" else {
                return .problem(
                    .notImplemented,
                    "the only Transfer-Encoding here is chunked: compress with Content-Encoding")
            }
        }
        let hosts = head.headers["host"]
        guard hosts.count == 1 || (hosts.isEmpty && head.version == .http1_0) else {
            return .problem(
                .badRequest, "a request has one Host, and this one has \(hosts.count)")
        }
        let host = HostRule.value(hosts.first ?? "")
        guard HostRule.isHost(host) else { return HostRule.refusal }
        guard head.method != .CONNECT, Self.isTarget(head.uri, host: host) else {
            return .problem(
                .badRequest,
                "this is no proxy: ask for a path, as in POST /v1/events HTTP/1.1, of the name "
                    + "in Host")
        }
        return nil
    }

    /// Whether a target is a path, `*`, or a whole URI of the same host (RFC 9112, section 3.2).
    private static func isTarget(_ target: String, host: String) -> Bool {
        if target.utf8.first == UInt8(ascii: "/") || target == "*" { return true }
        let scheme = ["http://", "https://"].first { target.lowercased().hasPrefix($0) }
        guard let scheme else { return false }
        let authority = target.utf8.dropFirst(scheme.utf8.count).prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?")
        }
        // A host has no case (RFC 9110, section 4.2.3).
        return authority.elementsEqual(host.utf8) {
            HostRule.lowercase($0) == HostRule.lowercase($1)
        }
    }

    /// Whether the connection ends with the answer: the client wants that, or it asks for another
    /// protocol, behind which the decoder would read no further request.
    static func isLast(_ head: HTTPRequestHead) -> Bool {
        !head.isKeepAlive || head.headers.contains(name: "upgrade")
    }
}
