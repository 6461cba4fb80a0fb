// What the server behind the door gets, and what comes back from it.
@testable internal import HTTPDoor
internal import HTTPTypes
internal import NIOCore
internal import SinkTestSupport
internal import Synchronization
internal import Testing

struct PostbackUpstreamTests {
    private static func upstream(
        _ change: (inout PostbackConfiguration) -> Void = { _ in }
    ) -> PostbackUpstream {
        var configuration = PostbackConfiguration()
        // A busy machine is no server that is late.
        configuration.upstreamTimeout = .seconds(300)
        change(&configuration)
        return PostbackUpstream(configuration)
    }

    private static func url(_ receiver: TestReceiver) -> String {
        "http://127.0.0.1:\(receiver.port)"
    }

    private static func request(
        _ method: HTTPRequest.Method = .get, _ path: String = "/r/", query: String? = nil,
        headers: HTTPFields = [:], body: String = "", address: String = "ipv4:192.0.2.1:1"
    ) -> DoorRequest {
        DoorRequest(
            method: method, path: path, query: query, host: "track.example", headers: headers,
            body: ByteBuffer(string: body), peer: DoorPeer(address: address))
    }

    private static func field(_ name: String, _ value: String) -> HTTPField? {
        HTTPField.Name(name).map { HTTPField(name: $0, value: value) }
    }

    @Test(
        "the server gets the request as it came, under its own name and without hop-by-hop fields")
    func request() async throws {
        let receiver = try TestReceiver([.answer(200)])
        var headers: HTTPFields = [
            .userAgent: "Mozilla/5.0 (Linux; U; Android 14; en-US; Pixel 8 Build/UQ1A)",
            .accept: "*/*", .contentType: "application/json", .connection: "close, X-Own,\u{301}",
            .acceptLanguage: "en-US", .te: "trailers", .upgrade: "h2c", .expect: "100-continue",
        ]
        for (name, value) in [
            ("keep-alive", "timeout=5"), ("x-own", "1"), ("x-kept", "2"),
            ("proxy-authorization", "Basic x"), ("cookie", "a=1"), ("cookie", "b=2"),
        ] {
            headers.append(try #require(Self.field(name, value)))
        }
        let request = Self.request(
            .post, "/rest/head/mobileAppV5/a%20b/", query: "id=h1,2,1&mcId=a%20b|c",
            headers: headers, body: "{\"a\": 1}")
        let (response, outcome) = await Self.upstream().answer(request, by: Self.url(receiver))
        #expect(response?.status == .ok && outcome == .answered)
        let got = try #require(receiver.requests.first)
        #expect(
            got.line == "POST /rest/head/mobileAppV5/a%20b/?id=h1,2,1&mcId=a%20b%7Cc HTTP/1.1")
        #expect(String(decoding: got.body, as: UTF8.self) == "{\"a\": 1}")
        #expect(got.headers["host"] == "127.0.0.1:\(receiver.port)")
        #expect(got.headers["via"] == "1.1 sightline" && got.headers["x-kept"] == "2")
        #expect(got.headers["user-agent"]?.contains("Android 14") == true)
        #expect(got.headers["content-type"] == "application/json")
        #expect(got.headers["cookie"] == "a=1; b=2")
        for name in ["x-own", "keep-alive", "te", "upgrade", "expect", "proxy-authorization"] {
            #expect(got.headers[name] == nil, "\(name)")
        }
        #expect(got.headers["connection"]?.contains("X-Own") != true)
    }

    @Test("an answer comes back with its fields and its body, a redirect too, which nobody follows")
    func answer() async throws {
        let receiver = try TestReceiver([
            .answer(
                302,
                headers: [
                    "location": "https://shop.example/", "set-cookie": "a=b", "connection": "X-Own",
                    "x-own": "1", "keep-alive": "timeout=5",
                ], body: "moved"),
            .answer(404, body: "nothing"), .answer(500),
        ])
        let upstream = Self.upstream()
        let (moved, _) = await upstream.answer(Self.request(), by: Self.url(receiver))
        #expect(moved?.status == .found && moved?.headers[.location] == "https://shop.example/")
        #expect(moved?.headers[.setCookie] == "a=b")
        #expect(moved.map { String(buffer: $0.body) } == "moved" && moved?.isPassedOn == true)
        for name in ["connection", "x-own", "keep-alive", "content-length"] {
            let name = try #require(HTTPField.Name(name))
            #expect(moved?.headers[name] == nil, "\(name)")
        }
        for status in [404, 500] {
            let (response, outcome) = await upstream.answer(Self.request(), by: Self.url(receiver))
            #expect(response?.status.code == status && outcome == .answered)
        }
        #expect(receiver.requests.count == 3)
    }

    @Test("an answer has postback.upstream_bytes, and not one more")
    func size() async throws {
        let body = String(repeating: "x", count: 1024)
        let receiver = try TestReceiver([.answer(200, body: body), .answer(200, body: body + "x")])
        let upstream = Self.upstream { $0.maxUpstreamBytes = 1024 }
        let (whole, _) = await upstream.answer(Self.request(), by: Self.url(receiver))
        #expect(whole?.body.readableBytes == 1024)
        let (none, outcome) = await upstream.answer(Self.request(), by: Self.url(receiver))
        #expect(none == nil && outcome == .tooLarge)
    }

    @Test(
        "a server that says nothing, nothing final, or drips, is late",
        arguments: [TestReceiver.Reply.stall, .answer(103), .drip])
    func late(_ reply: TestReceiver.Reply) async throws {
        let receiver = try TestReceiver([reply])
        let upstream = Self.upstream { $0.upstreamTimeout = .milliseconds(200) }
        let (response, outcome) = await upstream.answer(Self.request(), by: Self.url(receiver))
        #expect(response == nil && outcome == .late)
    }

    @Test("a server that is down, or closes without an answer, has failed, and is not asked twice")
    func failed() async throws {
        let receiver = try TestReceiver([.close, .close])
        let (response, outcome) = await Self.upstream().answer(
            Self.request(), by: Self.url(receiver))
        #expect(response == nil && outcome == .failed && receiver.requests.count == 1)
        // Nobody listens there, and no other test can come to.
        let (none, other) = await Self.upstream().answer(Self.request(), by: "http://127.0.0.1:1")
        #expect(none == nil && other == .failed)
    }

    @Test(
        "a server that goes on in another protocol has failed, and its connection is not kept",
        arguments: [["upgrade": "websocket", "connection": "upgrade"], [:]] as [[String: String]])
    func otherProtocol(_ headers: [String: String]) async throws {
        let receiver = try TestReceiver([.answer(101, headers: headers), .answer(200)])
        let (upstream, url) = (Self.upstream(), Self.url(receiver))
        let (response, outcome) = await upstream.answer(Self.request(), by: url)
        #expect(response == nil && outcome == .failed && receiver.requests.count == 1)
        let (_, next) = await upstream.answer(Self.request(), by: url)
        #expect(next == .answered && receiver.requests.map(\.connection) == [1, 2])
    }

    @Test("an address with all places upstream leaves another its half")
    func places() async throws {
        let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
        let stall = TestReceiver.Reply.of { _ in
            arrival.yield()
            return .stall
        }
        let receiver = try TestReceiver([stall, stall, .answer(200)])
        let upstream = Self.upstream { $0.maxUpstreamRequests = 2 }
        let url = Self.url(receiver)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 { group.addTask { _ = await upstream.answer(Self.request(), by: url) } }
            var arrivals = arrived.makeAsyncIterator()
            for _ in 0..<2 { await arrivals.next() }
            let (_, third) = await upstream.answer(Self.request(), by: url)
            #expect(third == .busy)
            let (_, other) = await upstream.answer(
                Self.request(address: "ipv4:192.0.2.2:1"), by: url)
            #expect(other == .answered)
            group.cancelAll()
        }
        #expect(receiver.requests.count == 3)
        receiver.answer([.answer(200), .answer(200)])
        let (_, again) = await upstream.answer(Self.request(), by: url)
        #expect(again == .answered, "their places are free again")
    }

    @Test(
        "what was passed on by a server like this one is not passed on again",
        arguments: [
            ("1.1 sightline", true), ("1.1 nginx, 1.1 Sightline", true), ("2 sightline (x)", true),
            ("1.1 sightline,\u{301}", true),
            ("1.1 nginx", false), ("1.1 sightline.example", false), ("sightline", false),
            ("", false),
        ])
    func circle(_ row: (via: String, isCircle: Bool)) async throws {
        let receiver = try TestReceiver([.answer(200)])
        let (_, outcome) = await Self.upstream().answer(
            Self.request(headers: [.via: row.via]), by: Self.url(receiver))
        #expect(outcome == (row.isCircle ? .circle : .answered))
        #expect(receiver.requests.count == (row.isCircle ? 0 : 1))
    }

    @Test("methods and paths that no resource has are not passed on")
    func unfit() async throws {
        let receiver = try TestReceiver()
        for request in [
            Self.request(.connect, "track.example:443"), Self.request(.trace, "/"),
            Self.request(.options, "*"), Self.request(.get, ""),
            Self.request(.get, "http://other.example/"), Self.request(.get, "@other.example/"),
            Self.request(.get, "/a%E9/b"), Self.request(.delete, "/%C3"),
        ] {
            let (response, outcome) = await Self.upstream().answer(request, by: Self.url(receiver))
            #expect(response == nil && outcome == .unfit, "\(request.path)")
        }
        #expect(receiver.requests.isEmpty)
    }
}
