internal import AsyncHTTPClient
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// Requests and answers as they are passed on.
enum UpstreamMessage {
    /// How this server names itself in `Via` (RFC 9110, 7.6.3).
    private static let name = "sightline"

    /// Whether a request was passed on by a server like this one: two that lead to each other would
    /// pass it on for ever.
    static func hasPassedHere(_ request: DoorRequest) -> Bool {
        request.headers[values: .via].contains { field in
            field.utf8.split(separator: UInt8(ascii: ",")).contains { hop in
                let words = hop.split(separator: UInt8(ascii: " "))
                return words.dropFirst().first.map { Substring($0).lowercased() } == Self.name
            }
        }
    }

    /// A request for a server; nil if its method or path is none of a resource there, or the client
    /// could not ask for that path: instead of one that is no UTF-8, async-http-client 1.37.0 asks
    /// for `/`.
    static func request(_ request: DoorRequest, to server: String) -> HTTPClientRequest? {
        guard Self.methods.contains(request.method), request.path.utf8.first == UInt8(ascii: "/"),
            String(validating: PercentEncoding.decoded(request.path.utf8), as: UTF8.self) != nil
        else { return nil }
        let query = request.query.map { "?" + PercentEncoding.fit($0) } ?? ""
        var message = HTTPClientRequest(url: server + PercentEncoding.fit(request.path) + query)
        message.method = HTTPMethod(rawValue: request.method.rawValue)
        let hops = Self.hops(request.headers)
        for field in request.headers
        where field.name != .cookie && !hops.contains(field.name.canonicalName) {
            message.headers.add(name: field.name.rawName, value: field.value)
        }
        // HTTP/2 may have a field for each cookie, HTTP/1.1 has one (RFC 9113, section 8.2.3).
        if let cookies = request.headers[.cookie], !hops.contains("cookie") {
            message.headers.add(name: "cookie", value: cookies)
        }
        message.headers.add(name: "via", value: "1.1 \(Self.name)")
        if request.body.readableBytes > 0 { message.body = .bytes(request.body) }
        return message
    }

    private static let methods: Set<HTTPRequest.Method> = [
        .get, .head, .post, .put, .patch, .delete, .options,
    ]

    /// An answer with its body; nil if that is too large. One to HEAD keeps the length of the body
    /// that GET would have.
    ///
    /// - Throws: an error of the connection, or `OtherProtocol`.
    static func response(
        _ answer: HTTPClientResponse, to method: HTTPMethod, maxBytes: Int
    ) async throws -> DoorResponse? {
        guard answer.status.code >= 200 else { throw OtherProtocol() }
        var fields = HTTPFields()
        for (name, value) in answer.headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        var hops = Self.hops(fields)
        if method == .HEAD { hops.remove("content-length") }
        for name in fields.map(\.name) where hops.contains(name.canonicalName) {
            fields[name] = nil
        }
        var body = ByteBuffer()
        for try await var part in answer.body {
            guard body.readableBytes + part.readableBytes <= maxBytes else { return nil }
            body.writeBuffer(&part)
        }
        var response = DoorResponse(
            status: HTTPResponse.Status(code: Int(answer.status.code)), headers: fields, body: body)
        response.isPassedOn = true
        return response
    }

    /// The server goes on in another protocol, for which nobody has asked.
    private struct OtherProtocol: Error {}

    /// The names of fields that are of one connection alone (RFC 9110, 7.6.1), and of those that
    /// the other side writes itself.
    private static func hops(_ fields: HTTPFields) -> Set<String> {
        let named = fields[values: .connection].flatMap { field in
            field.utf8.split(separator: UInt8(ascii: ",")).map { name in
                Substring(name).filter { $0 != " " && $0 != "\t" }.lowercased()
            }
        }
        return Self.ownFields.union(named)
    }

    private static let ownFields: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "host",
        "content-length", "expect", "http2-settings",
    ]
}
