// Which pages may call, and what a browser is told.
@testable internal import HTTPDoor
internal import HTTPTypes
internal import Synchronization
internal import Testing

struct CrossOriginTests {
    private func preflight(_ origin: String?, asked: String? = "POST") -> DoorRequest {
        var headers: HTTPFields = [:]
        headers[.origin] = origin
        headers[.accessControlRequestMethod] = asked
        return DoorRequest(method: .options, path: "/v1/events", headers: headers)
    }

    @Test("without origins nothing is said, and a preflight is none")
    func none() {
        let crossOrigin = CrossOrigin(origins: [])
        #expect(crossOrigin.preflight(self.preflight("https://a.example")) == nil)
        var response = DoorResponse(status: .ok)
        crossOrigin.allow(&response, for: self.preflight("https://a.example"))
        #expect(response.headers.isEmpty)
    }

    @Test("a listed origin gets what it may send, for two hours, and no credentials mode")
    func listed() throws {
        let crossOrigin = CrossOrigin(origins: ["https://a.example", "https://b.example"])
        let response = try #require(
            crossOrigin.preflight(self.preflight("https://b.example")))
        #expect(response.status == .noContent)
        #expect(response.headers[.accessControlAllowOrigin] == "https://b.example")
        #expect(response.headers[.accessControlAllowMethods] == "GET, POST")
        #expect(response.headers[.accessControlMaxAge] == "7200")
        #expect(response.headers[.vary] == "Origin")
        #expect(response.headers[.accessControlAllowCredentials] == nil)
        let allowed = try #require(response.headers[.accessControlAllowHeaders])
        for name in [
            "content-type", "authorization", "connect-protocol-version", "connect-timeout-ms",
            "grpc-timeout", "x-grpc-web", "x-user-agent", "x-api-key",
        ] {
            #expect(allowed.contains(name))
        }
    }

    @Test(
        "origins are compared exactly",
        arguments: [
            "https://a.example.evil", "http://a.example", "https://A.example",
            "https://a.example:443", "https://a.example/", "null", "",
        ])
    func exact(_ origin: String) {
        let crossOrigin = CrossOrigin(origins: ["https://a.example"])
        let refused = crossOrigin.preflight(self.preflight(origin))
        #expect(refused?.status == .forbidden)
        #expect(refused?.headers[.accessControlAllowOrigin] == nil)
        var response = DoorResponse(status: .ok)
        crossOrigin.allow(&response, for: self.preflight(origin))
        #expect(response.headers[.accessControlAllowOrigin] == nil)
        #expect(response.headers[.vary] == "Origin")
    }

    @Test("the live page may call once its origins are known, beside those that are listed")
    func livePage() {
        final class Page: Sendable { let origins = Mutex<[String]>([]) }
        let page = Page()
        let alone = CrossOrigin(origins: []) { page.origins.withLock { $0 } }
        let beside = CrossOrigin(origins: ["https://a.example"]) { page.origins.withLock { $0 } }
        let own = "http://127.0.0.1:9464"
        #expect(alone.preflight(self.preflight(own)) == nil)
        #expect(beside.preflight(self.preflight(own))?.status == .forbidden)
        page.origins.withLock { $0 = [own, "http://localhost:9464"] }
        for crossOrigin in [alone, beside] {
            for origin in [own, "http://localhost:9464"] {
                let allowed = crossOrigin.preflight(self.preflight(origin))
                #expect(allowed?.headers[.accessControlAllowOrigin] == origin)
            }
            for origin in ["http://127.0.0.1:9465", "http://localhost", "https://localhost:9464"] {
                #expect(crossOrigin.preflight(self.preflight(origin))?.status == .forbidden)
            }
        }
        #expect(alone.preflight(self.preflight("https://a.example"))?.status == .forbidden)
        #expect(beside.preflight(self.preflight("https://a.example"))?.status == .noContent)
    }

    @Test("a star is for all pages, and needs no Vary")
    func star() throws {
        let crossOrigin = CrossOrigin(origins: ["*"])
        let response = try #require(crossOrigin.preflight(self.preflight("null")))
        #expect(response.headers[.accessControlAllowOrigin] == "*")
        #expect(response.headers[.vary] == nil)
    }

    @Test("OPTIONS without an origin or a method to ask for is no preflight")
    func noPreflight() {
        let crossOrigin = CrossOrigin(origins: ["*"])
        #expect(crossOrigin.preflight(self.preflight(nil)) == nil)
        #expect(crossOrigin.preflight(self.preflight("https://a.example", asked: nil)) == nil)
    }

    @Test("an answer can be read with its error, and to allow it twice is as good as once")
    func answers() throws {
        let crossOrigin = CrossOrigin(origins: ["https://a.example"])
        var response = DoorResponse(status: .ok, headers: [.vary: "accept-encoding"])
        let request = self.preflight("https://a.example")
        crossOrigin.allow(&response, for: request)
        let once = response.headers
        crossOrigin.allow(&response, for: request)
        #expect(response.headers == once)
        #expect(response.headers[values: .vary] == ["accept-encoding", "Origin"])
        let exposed = try #require(response.headers[.accessControlExposeHeaders])
        for name in ["grpc-status", "grpc-message", "grpc-status-details-bin"] {
            #expect(exposed.contains(name))
        }
    }
}
