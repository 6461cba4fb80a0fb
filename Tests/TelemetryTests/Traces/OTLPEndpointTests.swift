// Where spans are sent, and the lists that go with it, as operators write them.
internal import Telemetry
internal import Testing

struct OTLPEndpointTests {
    @Test(
        "an endpoint is a scheme, a host, and perhaps a port and a path",
        arguments: [
            ("http://localhost:4317", "localhost", 4317, false, ""),
            ("http://localhost", "localhost", nil, false, ""),
            ("https://otel.example.com/", "otel.example.com", nil, true, "/"),
            ("HTTPS://10.0.0.1:443", "10.0.0.1", 443, true, ""),
            ("http://[::1]:1", "::1", 1, false, ""), ("http://[::1]", "::1", nil, false, ""),
            ("http://a_b.c-d:65535", "a_b.c-d", 65535, false, ""),
            ("http://a/v1/traces", "a", nil, false, "/v1/traces"),
            ("http://a:1//", "a", 1, false, "//"),
        ] as [(String, String, Int?, Bool, String)])
    func taken(_ text: String, host: String, port: Int?, isEncrypted: Bool, path: String) throws {
        let endpoint = try #require(OTLPEndpoint(text))
        #expect(endpoint.host == host && endpoint.port == port && endpoint.path == path)
        #expect(endpoint.isEncrypted == isEncrypted)
    }

    @Test(
        "anything else is none",
        arguments: [
            "", "localhost:4317", "localhost", "http:", "http:/", "http://", "http:///",
            "http://:1",
            "http://a:0", "http://a:65536", "http://a:-1", "http://a:+1", "http://a:", "http://a:b",
            "ftp://a", "grpc://a", "http://a b", "http://u@a", "http://a/b c", "http://a/b?c",
            "http://a/b#c", "http://a/ä",
            "http://::1", "http://[::1", "http://::1]:1", "http://[a]", "http://ä", "unix:///tmp/a",
            "http://a?b", "http://a#b", "/elsewhere", "http://a:99999999999999999999",
        ])
    func refused(_ text: String) { #expect(OTLPEndpoint(text) == nil) }

    @Test(
        "port and path tell the protocol, unless it is said; HTTP alone has a path",
        arguments: [
            ("http://a:4317", OTLPProtocol.auto, OTLPProtocol.grpc, true),
            ("http://a", .auto, .grpc, true), ("http://a:4318", .auto, .http, true),
            ("http://a:4317/", .auto, .grpc, true), ("https://a/v1/traces", .auto, .http, true),
            ("http://a:4318", .grpc, .grpc, true), ("http://a:4317", .http, .http, true),
            ("http://a/v1/traces", .grpc, .grpc, false),
        ])
    func protocols(
        _ text: String, said: OTLPProtocol, resolved: OTLPProtocol, isTaken: Bool
    ) throws {
        let endpoint = try #require(OTLPEndpoint(text))
        #expect(said.resolved(for: endpoint) == resolved && said.takes(endpoint) == isTaken)
    }

    @Test(
        "a list is names with values, percent-encoded",
        arguments: [
            ("", []), ("a=b", ["a=b"]), ("a=b,c=d", ["a=b", "c=d"]),
            (" a = b , c=d ", ["a=b", "c=d"]),
            ("a=b=c", ["a=b=c"]), ("a=", ["a="]), ("a=%20%2C%3D", ["a= ,="]), ("a=b,", ["a=b"]),
            ("a=b, ,c=d", ["a=b", "c=d"]), ("a=%C3%A4", ["a=ä"]), ("a=1,a=2", ["a=1", "a=2"]),
        ] as [(String, [String])])
    func lists(_ text: String, expected: [String]) throws {
        let list = try #require(NameValueList.read(text))
        #expect(list.map { "\($0.name)=\($0.value)" } == expected)
    }

    @Test(
        "a malformed list is none at all", arguments: ["a", "=b", "a=b,c", "a=%", "a=%zz", "a=%ff"])
    func malformedLists(_ text: String) { #expect(NameValueList.read(text) == nil) }

    @Test("a name of metadata is lower-cased")
    func metadata() throws {
        let list = try #require(NameValueList.readMetadata("Authorization=Bearer%20x"))
        #expect(list.map(\.name) == ["authorization"] && list.map(\.value) == ["Bearer x"])
    }

    @Test(
        "what cannot be metadata is none",
        arguments: ["a b=c", "ä=b", "a=ä", "a=%0A", "grpc-timeout=1S", "x-bin=b", ":path=b", "a"])
    func badMetadata(_ text: String) { #expect(NameValueList.readMetadata(text) == nil) }
}
