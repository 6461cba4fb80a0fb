internal import ConfigurationKeys
internal import HTTP2Edge
internal import HTTPDoor
internal import Testing

struct HTTPConfigurationTests {
    private func problems(_ origins: String) throws -> [String] {
        let key = try #require(HTTPConfiguration.keys.first { $0.name == "http.cors_origins" })
        return key.problems(origins)
    }

    @Test(
        "origins are schemes, hosts and ports",
        arguments: [
            "", "*", "https://app.example.com", "http://localhost:3000, https://[::1]:1",
        ])
    func origins(_ list: String) throws { #expect(try self.problems(list) == []) }

    @Test(
        "what is no origin is named",
        arguments: [
            "app.example.com", "https://app.example.com/", "https://", "ftp://a", "https://A.com",
            "https://*.example.com", "null",
        ])
    func noOrigins(_ word: String) throws {
        let problems = try self.problems("https://a.com, " + word)
        #expect(problems.count == 1)
        #expect(problems.first?.contains("\"\(word)\" is not") == true)
    }

    @Test("a connection has the limits of the gRPC port, but for those that this port has itself")
    func connections() {
        var http = HTTPConfiguration()
        http.maxConnections = 3
        http.maxPerAddress = 2
        var grpc = ConnectionConfiguration()
        grpc.newPerSecond = 7
        let connections = http.connections(grpc)
        #expect(connections.maxCount == 3 && connections.maxPerAddress == 2)
        #expect(connections.newPerSecond == 7 && connections.maxAge == grpc.maxAge)
        #expect(connections.idleTimeout == http.idleTimeout)
        #expect(connections.handshakeTimeout == http.headerTimeout)
    }
}
