package import HTTPTypes
package import NIOCore

/// A request of an HTTP client, read whole, as the handlers of the door see it: within the
/// listener's limits, its body still in the encoding of `content-encoding`.
package struct DoorRequest: Sendable {
    /// The method.
    package var method: HTTPRequest.Method
    /// The path as sent, without the query.
    package var path: String
    /// The query as sent, without `?`; nil for none.
    package var query: String?
    /// The name that it was asked by, from `Host` or `:authority`, without the port, in lower case.
    package var host: String
    /// The header fields.
    package var headers: HTTPFields
    /// The body as sent.
    package var body: ByteBuffer
    /// Who sent it.
    package var peer: DoorPeer

    /// Creates a request.
    package init(
        method: HTTPRequest.Method, path: String, query: String? = nil, host: String = "",
        headers: HTTPFields = [:], body: ByteBuffer = ByteBuffer(), peer: DoorPeer = DoorPeer()
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.host = host
        self.headers = headers
        self.body = body
        self.peer = peer
    }
}
