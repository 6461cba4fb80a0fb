internal import HTTPTypes
internal import NIOHTTP1
internal import NIOHTTPTypesHTTP1

extension HTTPRequest {
    /// The request of a head of HTTP/1 that `HTTP1HeadRule` has found in order.
    ///
    /// The library's own conversion makes a URL of each target and takes that apart
    /// (swift-nio-extras 1.35.2), which most targets, a path, need not.
    ///
    /// - Throws: an error of the library for a method whose name is no token.
    init(_ head: HTTPRequestHead) throws {
        self.init(
            method: try Method(head.method), scheme: nil,
            authority: head.headers["host"].first.map(HostRule.value),
            path: Self.path(of: head.uri),
            headerFields: HTTPFields(head.headers, splitCookie: false))
    }

    /// The path and query of a target, which is a path, `*`, or a whole URI.
    private static func path(of target: String) -> String {
        let (slash, text) = (UInt8(ascii: "/"), target.utf8)
        guard text.first != slash, let colon = text.firstIndex(of: UInt8(ascii: ":")) else {
            return target
        }
        let authority = text[colon...].dropFirst("://".utf8.count)
        let path = authority.drop { $0 != slash && $0 != UInt8(ascii: "?") }
        return (path.first == slash ? "" : "/") + String(decoding: path, as: UTF8.self)
    }
}
