internal import HTTPTypes
@testable internal import HTTPDoor
internal import NIOCore
internal import Testing

@Suite struct DoorRequestTests {
    @Test func aRequestHasNoBodyUnlessItIsGiven() {
        #expect(DoorRequest(method: .get, path: "/v1/").body.readableBytes == 0)
    }

    @Test(
        "a target is a path and a query",
        arguments: [
            ("/r/?id=1,2,3", "/r/", "id=1,2,3"), ("/v1/", "/v1/", nil), ("/a?", "/a", ""),
            ("/a?b?c", "/a", "b?c"), ("*", "*", nil), ("", "", nil),
        ])
    func target(_ target: String, _ path: String, _ query: String?) {
        let head = HTTPRequest(method: .get, scheme: "http", authority: "h", path: target)
        let request = DoorRequest(head, peer: DoorPeer())
        #expect(request.path == path && request.query == query)
    }

    @Test(
        "a host is a name without its port and the root's dot, in lower case",
        arguments: [
            ("Example.COM:8080", "example.com"), ("example.com", "example.com"), ("", ""),
            ("[::1]:80", "[::1]"), ("[::1]", "[::1]"), ("10.0.0.1", "10.0.0.1"), (":80", ""),
            ("h:", "h"), ("host1", "host1"), ("h.example.", "h.example"),
            ("h.example.:443", "h.example"), (".", ""),
            // The Kelvin sign, whose lower case by Unicode is k.
            ("\u{212A}.Example", "\u{212A}.example"),
        ])
    func host(_ authority: String, _ name: String) {
        #expect(Array(DoorRequest.name(in: authority).utf8) == Array(name.utf8))
    }

    @Test("a request of HTTP/2 may have a host instead of an authority")
    func hostField() throws {
        let field = HTTPField(name: try #require(HTTPField.Name("host")), value: "H.example:80")
        var head = HTTPRequest(
            method: .get, scheme: "http", authority: nil, path: "/", headerFields: [:])
        head.headerFields.append(field)
        #expect(DoorRequest(head, peer: DoorPeer()).host == "h.example")
        head.authority = "other.example"
        #expect(DoorRequest(head, peer: DoorPeer()).host == "other.example")
    }

    @Test("the time of an answer is written as HTTP wants it")
    func date() {
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.text(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
    }
}
