// What the admin server answers, and whom.
internal import AdminProtocol
@testable internal import AdminServer
internal import Delivery
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdTesting
internal import Synchronization
internal import Telemetry
internal import Testing
internal import TrackingJournal
@testable internal import TrackingServer

struct AdminRoutesTests {
    private let isTaking = Flag()

    /// Whether the journal takes events.
    private final class Flag: Sendable {
        let value = Mutex(true)
    }

    private func routes() -> (AdminRoutes, HealthBoard) {
        let isTaking = self.isTaking
        let board = HealthBoard(maxWatchers: 1) { isTaking.value.withLock { $0 } }
        let metrics = ServerMetrics()
        let statistics = StatisticsService(
            version: "1.2.3", historySeconds: 10, registry: metrics.registry,
            notReadyReasons: { board.notReadyReasons }, sinks: NoSinks(),
            rejections: RejectionLog(maxRows: 10), ledger: { Ledger() },
            deliveries: PutTotals())
        let routes = AdminRoutes(
            build: Build(version: "1.2.3"), registry: metrics.registry,
            notReadyReasons: { board.notReadyReasons },
            statistics: statistics,
            page: LivePage(), hostNames: [])
        return (routes, board)
    }

    private func ask(
        _ routes: AdminRoutes, _ path: String, _ method: HTTPRequest.Method = .get
    ) async throws -> TestResponse {
        let application = Hummingbird.Application(router: routes.router)
        return try await application.test(.router) { client in
            try await client.execute(uri: path, method: method)
        }
    }

    @Test(
        "each path answers with its media type, to GET and to HEAD",
        arguments: [
            ("/", "text/html; charset=utf-8"), ("/healthz", "text/plain; charset=utf-8"),
            ("/version", "application/json"), ("/stats.json", "application/json"),
            ("/metrics", "text/plain; version=0.0.4; charset=utf-8"),
        ])
    func paths(_ path: String, _ contentType: String) async throws {
        let (routes, _) = self.routes()
        let answer = try await self.ask(routes, path)
        #expect(answer.status == .ok && answer.headers[.contentType] == contentType)
        #expect(answer.body.readableBytes > 0)
        let head = try await self.ask(routes, path, .head)
        #expect(head.status == .ok && head.body.readableBytes == 0)
        #expect(head.headers[.contentType] == contentType)
    }

    @Test("every answer forbids to keep it, to guess its type and to run what is not ours")
    func headers() async throws {
        let (routes, _) = self.routes()
        for path in ["/", "/stats.json", "/no-such-path"] {
            let headers = try await self.ask(routes, path).headers
            #expect(headers[.cacheControl] == "no-store")
            #expect(headers[.xContentTypeOptions] == "nosniff")
            #expect(headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'; ") == true)
            #expect(headers[.contentSecurityPolicy]?.contains("unsafe") == false)
            let runsScripts = headers[.contentSecurityPolicy]?.contains("script-src") == true
            #expect(runsScripts == (path == "/"))
        }
    }

    @Test(
        "nothing can be changed: other methods are refused",
        arguments: ["POST", "PUT", "DELETE", "OPTIONS"])
    func methods(_ name: String) async throws {
        let (routes, _) = self.routes()
        let method = try #require(HTTPRequest.Method(name))
        let answer = try await self.ask(routes, "/stats.json", method)
        #expect(answer.status == .methodNotAllowed && answer.headers[.allow] == "GET, HEAD")
    }

    @Test(
        "it is asked by an IP address, as localhost, or by a name that was configured",
        arguments: [
            ("localhost", true), ("LOCALHOST:9464", true), ("127.0.0.1:9464", true),
            ("10.1.2.3", true), ("[::1]:9464", true), ("[::1]", true), ("node7.example:80", true),
            ("evil.example", false), ("evil.example:9464", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false), ("", false), (":80", false),
        ])
    func hosts(_ host: String, _ isOwn: Bool) {
        let gate = AdminGate<BasicRequestContext>(hostNames: ["node7.example"])
        #expect(gate.isOwnName(host) == isOwn)
    }

    @Test("readyz says all that is in the way")
    func readiness() async throws {
        let (routes, board) = self.routes()
        func readiness() async throws -> (HTTPResponse.Status, String) {
            let answer = try await self.ask(routes, "/readyz")
            return (answer.status, String(buffer: answer.body))
        }
        let early = try await readiness()
        #expect(early.0 == .serviceUnavailable && early.1.contains("does not listen"))
        board.beginListening()
        #expect(try await readiness() == (.ok, "{\"is_ready\":true,\"not_ready\":[]}\n"))
        self.isTaking.value.withLock { $0 = false }
        let full = try await readiness()
        #expect(full.0 == .serviceUnavailable && full.1.contains("journal"))
        await board.beginDraining()
        let draining = try await readiness()
        #expect(draining.1.contains("journal") && draining.1.contains("draining"))
        // A draining server is still alive.
        #expect(try await self.ask(routes, "/healthz").status == .ok)
    }

    @Test("stats.json is what the statistics say, in snake case")
    func statistics() async throws {
        let (routes, board) = self.routes()
        board.beginListening()
        let answer = try await self.ask(routes, "/stats.json")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let statistics = try decoder.decode(
            Statistics.self, from: Data(answer.body.readableBytesView))
        #expect(statistics == routes.statistics.statistics)
        #expect(statistics.version == "1.2.3" && statistics.isReady)
        #expect(statistics.deliveries.count == 0 && statistics.history.windowSeconds == 10)
    }

    @Test("the page asks for nothing but the server's own figures, and is small")
    func page() throws {
        let page = AdminPage()
        let text = String(buffer: page.bytes)
        #expect(text.utf8.count < 44 << 10)
        #expect(!text.contains("src=\"") && !text.contains("rel=\"stylesheet\""))
        #expect(!text.contains("innerHTML") && !text.contains("<style></style>"))
        let addresses = text.matches(of: try Regex("https?://[^'\"\\s)]*")).map { text[$0.range] }
        #expect(Set(addresses) == ["http://www.w3.org/2000/svg"])
    }

    @Test("the page sends test events to the HTTP port once it is told to, and to nothing else")
    func testEvents() async throws {
        let (routes, _) = self.routes()
        func page() async throws -> (text: String, policy: String) {
            let answer = try await self.ask(routes, "/")
            let policy = try #require(answer.headers[.contentSecurityPolicy])
            return (String(buffer: answer.body), policy)
        }
        let plain = try await page()
        #expect(plain.policy.contains("connect-src 'self'; "))
        for word in ["send-", "data-door", "ExplainEvents", "v1/events", "<!--"] {
            #expect(!plain.text.contains(word))
        }
        routes.page.offerTestEvents(at: "http://127.0.0.1:8080/")
        let sending = try await page()
        #expect(sending.policy.contains("connect-src 'self' http://127.0.0.1:8080/; "))
        #expect(sending.text.contains("<section id=\"send\""))
        #expect(sending.text.contains("data-door=\"http://127.0.0.1:8080/\""))
        #expect(sending.text.contains("ExplainEvents") && sending.text.contains("v1/events"))
        #expect(sending.text.utf8.count < 56 << 10)
        #expect(!sending.text.contains("src=\"") && !sending.text.contains("innerHTML"))
        let addresses = sending.text.matches(of: try Regex("https?://[^'\"\\s)]*"))
        #expect(
            Set(addresses.map { sending.text[$0.range] })
                == ["http://www.w3.org/2000/svg", "http://127.0.0.1:8080/"])
    }

    @Test(
        "the page's origins are its address and localhost, once its port is bound",
        arguments: [
            ("http://127.0.0.1:9464/", "http://127.0.0.1:9464", "http://localhost:9464"),
            ("http://[::1]:41207/", "http://[::1]:41207", "http://localhost:41207"),
        ])
    func origins(_ url: String, _ address: String, _ name: String) {
        let page = LivePage()
        #expect(page.origins.isEmpty)
        page.listens(at: url)
        #expect(page.origins == [address, name])
    }
}

/// A server without sinks.
struct NoSinks: SinkOperator {
    let states: [SinkState] = []
    let formerSinks: [String] = []

    func forget(_ name: String) throws {
        throw SinkOperationError.unknownFormerSink(name, known: [])
    }

    func replayLetters(to sink: String, refusedBy refuser: String, limit: Int) throws
        -> Replay.Counts
    {
        throw SinkOperationError.unknownSink(sink, known: [])
    }

    func replayHits(to sink: String, since: Int64) throws -> HitReplay.Counts {
        throw SinkOperationError.unknownSink(sink, known: [])
    }

    func replayFile(_ path: String, to sink: String) throws -> HitReplay.Counts {
        throw SinkOperationError.unknownSink(sink, known: [])
    }
}
