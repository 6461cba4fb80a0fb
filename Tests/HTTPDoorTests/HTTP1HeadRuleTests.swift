// Forms of requests that NIO's decoder takes, and that must not pass.
@testable internal import HTTPDoor
internal import HTTPTypes
internal import NIOHTTP1
internal import Testing

struct HTTP1HeadRuleTests {
    /// A head in short.
    struct Form: CustomStringConvertible, Sendable {
        var version = HTTPVersion.http1_1
        var method = HTTPMethod.POST
        var target = "/v1/events"
        var headers: [(String, String)] = [("Host", "example.com")]
        /// The status of its refusal; nil for none.
        var status: Int?

        var description: String { "\(self.method) \(self.target) \(self.version) \(self.headers)" }
    }

    private static let host = ("Host", "example.com")
    private static let forms = [
        Form(), Form(target: "*"), Form(target: "http://example.com/v1/events?a"),
        Form(target: "HTTPS://example.com"), Form(target: "http://Example.COM/"),
        Form(headers: [Self.host, ("Transfer-Encoding", "Chunked")]),
        Form(version: .http1_0, headers: []),
        Form(headers: [Self.host, ("Transfer-Encoding", "gzip, chunked")], status: 501),
        Form(headers: [Self.host, ("Transfer-Encoding", "identity")], status: 501),
        Form(
            headers: [
                Self.host, ("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "chunked"),
            ], status: 501),
        Form(
            version: .http1_0, headers: [Self.host, ("Transfer-Encoding", "chunked")], status: 400),
        Form(headers: [], status: 400), Form(headers: [Self.host, Self.host], status: 400),
        Form(headers: [("Host", "")]), Form(headers: [("Host", "example.com:8080 \t")]),
        Form(headers: [("Host", "[::1]:80")]),
        Form(target: "http://example.com/", headers: [("Host", "example.com ")]),
        Form(headers: [("Host", "a, b")], status: 400),
        Form(headers: [("Host", "a/b")], status: 400),
        Form(headers: [("Host", "u@b")], status: 400),
        Form(version: .http1_0, headers: [("Host", "a b")], status: 400),
        Form(target: "http://u@b/", headers: [("Host", "u@b")], status: 400),
        Form(target: "http://other.example/v1/events", status: 400),
        Form(target: "http://example.com.other.example/", status: 400),
        Form(target: "http://user@example.com/", status: 400),
        Form(target: "v1/events", status: 400), Form(target: "", status: 400),
        Form(method: .CONNECT, target: "example.com:443", status: 400),
        Form(method: .CONNECT, status: 400),
    ]

    @Test("a request is refused, or not, by its form", arguments: Self.forms)
    func refusal(_ form: Form) {
        let head = HTTPRequestHead(
            version: form.version, method: form.method, uri: form.target,
            headers: HTTPHeaders(form.headers))
        #expect(HTTP1HeadRule.refusal(of: head)?.status.code == form.status)
    }

    @Test(
        "the path is a target as it was sent, without the scheme and name of a whole URI",
        arguments: [
            ("/v1/events?a=%2F:b", "/v1/events?a=%2F:b"), ("//a/b", "//a/b"), ("*", "*"),
            ("/r/?url=http://c/", "/r/?url=http://c/"), ("http://example.com", "/"),
            ("http://example.com/", "/"), ("http://example.com?a=/b", "/?a=/b"),
            ("HTTPS://example.com:8443/%7Bv1?a#b", "/%7Bv1?a#b"),
        ])
    func path(_ target: String, _ path: String) throws {
        let head = HTTPRequestHead(
            version: .http1_1, method: .POST, uri: target,
            headers: ["Accept": "*/*", "HOST": "example.com ", "x-a": "1", "X-A": "2"])
        let request = try HTTPRequest(head)
        #expect(request.path == path && request.authority == "example.com")
        #expect(request.method == .post)
        let fields = request.headerFields.map { "\($0.name.rawName)=\($0.value)" }
        #expect(fields == ["Accept=*/*", "x-a=1", "X-A=2"])
    }

    @Test("a connection ends with a request that says so, or that asks for another protocol")
    func last() {
        func isLast(_ headers: [(String, String)], _ version: HTTPVersion = .http1_1) -> Bool {
            HTTP1HeadRule.isLast(
                HTTPRequestHead(
                    version: version, method: .GET, uri: "/", headers: HTTPHeaders(headers)))
        }
        #expect(!isLast([]) && isLast([("Connection", "close")]) && isLast([], .http1_0))
        #expect(!isLast([("Connection", "keep-alive")], .http1_0))
        #expect(isLast([("Connection", "upgrade"), ("Upgrade", "h2c")]))
    }
}
