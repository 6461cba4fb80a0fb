// The door's answers, by what the service or the server behind it says.
internal import Credentials
internal import GRPCCore
@testable internal import HTTPDoor
internal import HTTPTypes
internal import Logging
internal import NIOCore
internal import SightlineProtos
internal import SinkTestSupport
internal import SwiftProtobuf
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TrackingRules
internal import WireFormat

/// Holds tasks until a test opens it.
private final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func pass() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isOpen = self.state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = self.state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Answers calls as a test says, behind its gate if there is one, and keeps them.
private final class ScriptedCalls: CallServing {
    private let answer: DoorAnswer
    private let gate: Gate?
    private let kept = Mutex<[DoorCall]>([])

    init(_ answer: DoorAnswer, behind gate: Gate? = nil) {
        self.answer = answer
        self.gate = gate
    }

    convenience init(_ verdict: Sightline_V1_Verdict, behind gate: Gate? = nil) throws {
        let response = Sightline_V1_RecordEventsResponse.with {
            $0.results = [.with { $0.verdict = verdict }]
        }
        let bytes: [UInt8] = try response.serializedBytes()
        self.init(
            DoorAnswer(message: ByteBuffer(bytes: bytes), status: Status(code: .ok, message: "")),
            behind: gate)
    }

    var calls: [DoorCall] { self.kept.withLock { $0 } }

    /// Postbacks have no credentials.
    func refusal(of metadata: Metadata, from peer: DoorPeer) -> DoorAnswer? { nil }

    func serve(_ call: DoorCall) async -> DoorAnswer {
        self.kept.withLock { $0.append(call) }
        await self.gate?.pass()
        return self.answer
    }
}

/// Answers what is passed on as a test says, and keeps it.
private final class ScriptedUpstream: UpstreamForwarding {
    private let answer: (response: DoorResponse?, outcome: UpstreamOutcome)
    private let kept = Mutex<[(request: DoorRequest, server: String)]>([])

    init(_ status: HTTPResponse.Status) {
        self.answer = (DoorResponse(status: status, body: ByteBuffer(string: "adobe")), .answered)
    }

    init(_ outcome: UpstreamOutcome) { self.answer = (nil, outcome) }

    var requests: [(request: DoorRequest, server: String)] { self.kept.withLock { $0 } }

    func answer(
        _ request: DoorRequest, by server: String
    ) async -> (response: DoorResponse?, outcome: UpstreamOutcome) {
        self.kept.withLock { $0.append((request, server)) }
        return self.answer
    }
}

/// What a door has counted.
private final class Outcomes: Sendable {
    let postbacks = Mutex<[PostbackOutcome]>([])
    let upstream = Mutex<[UpstreamOutcome]>([])
    /// Has an element for each outcome of a postback.
    private let (told, tell) = AsyncStream.makeStream(of: Void.self)

    func add(_ outcome: PostbackOutcome) {
        self.postbacks.withLock { $0.append(outcome) }
        self.tell.yield()
    }

    /// The outcomes of postbacks once there are so many: with a mirror no answer waits for one.
    func settled(_ count: Int) async -> [PostbackOutcome] {
        for await _ in self.told where self.postbacks.withLock({ $0.count }) >= count { break }
        return self.postbacks.withLock { $0 }
    }
}

struct PostbackDoorTests {
    private static let acme = Tenant("acme") ?? .standard
    private static let host = "acme.example"
    private static let query = "id=h138a,56c4,2&mcId=4711"

    private static func configuration(
        _ change: (inout PostbackConfiguration) -> Void = { _ in }
    ) -> PostbackConfiguration {
        var configuration = PostbackConfiguration()
        configuration.hosts = [
            ExactText(Self.host): PostbackHost(
                tenant: Self.acme, app: "com.example.app", product: .standard),
            ExactText("classic.example"): PostbackHost(tenant: .standard, product: .classic),
        ]
        change(&configuration)
        return configuration
    }

    private struct Opened {
        let door: PostbackDoor
        let outcomes: Outcomes
        let log: KeptLog
    }

    private static func open(
        _ calls: ScriptedCalls, _ configuration: PostbackConfiguration = Self.configuration(),
        _ upstream: ScriptedUpstream = ScriptedUpstream(.ok), clock: TestClock = TestClock()
    ) -> Opened {
        let (outcomes, log) = (Outcomes(), KeptLog())
        let door = PostbackDoor(
            configuration, calls: calls, upstream: upstream, logger: log.logger,
            // No time passes: what an address may send at once is all that it may.
            now: { 1 },
            clock: clock,
            onPostback: outcomes.add,
            onUpstream: { outcome in outcomes.upstream.withLock { $0.append(outcome) } })
        return Opened(door: door, outcomes: outcomes, log: log)
    }

    private static func request(
        _ method: HTTPRequest.Method = .get, host: String = Self.host, path: String = "/r/",
        query: String? = Self.query, headers: HTTPFields = [:], body: String = "",
        address: String = "ipv4:192.0.2.1:1", callMetadata: Metadata = [:]
    ) -> DoorRequest {
        DoorRequest(
            method: method, path: path, query: query, host: host, headers: headers,
            body: ByteBuffer(string: body),
            peer: DoorPeer(address: address, callMetadata: callMetadata))
    }

    // MARK: Recording

    private static let verdicts: [(Sightline_V1_Verdict, HTTPResponse.Status, PostbackOutcome)] = [
        (.accepted, .ok, .recorded), (.duplicate, .ok, .duplicate), (.rejected, .ok, .refused),
        (.suppressedConsent, .ok, .refused), (.suppressedFlagOff, .ok, .refused),
        (.suppressedFlagUnknown, .ok, .refused), (.suppressedDisplay, .ok, .refused),
        (.suppressedTestMessage, .ok, .refused), (.retryLater, .serviceUnavailable, .retry),
        (.unspecified, .serviceUnavailable, .retry),
        (.UNRECOGNIZED(99), .serviceUnavailable, .retry),
    ]

    @Test("D69: 200 for what need not come again, 503 for what has to", arguments: verdicts)
    func verdict(
        _ row: (
            verdict: Sightline_V1_Verdict, status: HTTPResponse.Status, outcome: PostbackOutcome
        )
    ) async throws {
        let opened = Self.open(try ScriptedCalls(row.verdict))
        let response = await opened.door.answer(Self.request())
        #expect(response.status == row.status)
        #expect(response.headers == [.cacheControl: "no-store"] && response.body.readableBytes == 0)
        #expect(opened.outcomes.postbacks.withLock { $0 } == [row.outcome])
    }

    @Test(
        "D69: whatever else fails gives 503, never 429, 500 or 502",
        arguments: [
            Status.Code.resourceExhausted, .unavailable, .internalError, .deadlineExceeded,
            .unauthenticated, .permissionDenied, .cancelled, .unknown, .dataLoss, .ok,
        ])
    func status(_ code: Status.Code) async {
        let opened = Self.open(
            ScriptedCalls(DoorAnswer(message: nil, status: Status(code: code, message: "no"))))
        let response = await opened.door.answer(Self.request())
        #expect(response.status == .serviceUnavailable && response.body.readableBytes == 0)
        #expect(opened.outcomes.postbacks.withLock { $0 } == [.retry])
    }

    @Test("D67: it is recorded for the host's tenant and app, without any of the sender's metadata")
    func call() async throws {
        let calls = try ScriptedCalls(.accepted)
        let opened = Self.open(calls)
        let request = Self.request(
            headers: [
                .authorization: "Bearer x", .userAgent: "Mozilla/5.0 (Linux; U; Android 14; …)",
            ])
        _ = await opened.door.answer(request)
        let call = try #require(calls.calls.first)
        #expect(calls.calls.count == 1 && call.metadata == [:])
        #expect(call.principal == .host(of: Self.acme) && call.peer.address == "ipv4:192.0.2.1:1")
        #expect(call.method == Sightline_V1_TrackingService.Method.RecordEvents.descriptor)
        let sent = try Sightline_V1_RecordEventsRequest(
            serializedBytes: Array(call.message.readableBytesView))
        #expect(sent.events.map(\.appID) == ["com.example.app"])
        #expect(sent.events.map(\.platform) == [.android])
        #expect(sent.events.map(\.trackAction.broadlogID) == ["h138a"])
    }

    @Test(
        "a postback is a GET or a POST, with whatever body",
        arguments: [(HTTPRequest.Method.get, ""), (.post, ""), (.post, "{}"), (.post, "{ }")])
    func forms(_ row: (method: HTTPRequest.Method, body: String)) async throws {
        let calls = try ScriptedCalls(.accepted)
        let opened = Self.open(calls)
        let request = Self.request(
            row.method, headers: [.contentType: "application/json", .connection: "close"],
            body: row.body)
        #expect(await opened.door.answer(request).status == .ok)
        #expect(calls.calls.count == 1)
    }

    @Test("D69: HEAD records nothing")
    func head() async throws {
        let calls = try ScriptedCalls(.accepted)
        let opened = Self.open(calls)
        #expect(await opened.door.answer(Self.request(.head)).status == .ok)
        #expect(calls.calls.isEmpty && opened.outcomes.postbacks.withLock { $0 } == [.head])
    }

    @Test(
        "D69: what is no postback gives 404, and is counted by its reason",
        arguments: [
            (Self.request(query: nil), PostbackOutcome.unreadable),
            (Self.request(query: "id=h138a,56c4,d57ff6&p1=x"), .unreadable),
            (Self.request(.put), .unreadable), (Self.request(.delete), .unreadable),
            (Self.request(.options), .unreadable), (Self.request(host: "b.example"), .unknownHost),
            (Self.request(host: ""), .unknownHost), (Self.request(host: "192.0.2.9"), .unknownHost),
            (Self.request(host: "classic.example"), .otherProduct),
        ])
    func notFound(_ row: (request: DoorRequest, outcome: PostbackOutcome)) async throws {
        let calls = try ScriptedCalls(.accepted)
        let opened = Self.open(calls)
        #expect(opened.door.takes(row.request))
        #expect(await opened.door.answer(row.request).status == .notFound)
        #expect(calls.calls.isEmpty)
        #expect(opened.outcomes.postbacks.withLock { $0 } == [row.outcome])
        #expect(
            opened.log.metadata(of: "not a postback").map { $0["reason"] } == [row.outcome.rawValue]
        )
    }

    @Test("it takes /r/ alone, and without hosts nothing at all")
    func takes() throws {
        let shut = Self.open(try ScriptedCalls(.accepted), PostbackConfiguration()).door
        let open = Self.open(try ScriptedCalls(.accepted)).door
        for path in ["/r/", "/r", "/r/test", "/r//", "/R/", "/", "/v1/events"] {
            #expect(open.takes(Self.request(path: path)) == (path == "/r/"), "\(path)")
            #expect(!shut.takes(Self.request(path: path)))
        }
    }

    @Test("an address has postback.per_address_per_second, and then 503")
    func rate() async throws {
        let calls = try ScriptedCalls(.accepted)
        let opened = Self.open(calls, Self.configuration { $0.perAddressPerSecond = 3 })
        var statuses: [HTTPResponse.Status] = []
        for _ in 0..<4 { statuses.append(await opened.door.answer(Self.request()).status) }
        #expect(statuses == [.ok, .ok, .ok, .serviceUnavailable])
        let other = Self.request(address: "ipv4:192.0.2.2:1")
        #expect(await opened.door.answer(other).status == .ok)
        #expect(opened.outcomes.postbacks.withLock { $0.filter { $0 == .throttled }.count } == 1)
        #expect(calls.calls.count == 4)
    }

    // MARK: Passing on

    private static let server = "https://acme.campaign.adobe.com"

    private static func passing(
        mirror: Bool = false
    ) -> PostbackConfiguration {
        Self.configuration {
            $0.upstream = Self.server
            $0.isMirroring = mirror
            $0.hosts[ExactText("classic.example")]?.upstream = "https://t.classic.example"
        }
    }

    @Test(
        "with a server behind it, everything else on its hosts is passed on, each to its own",
        arguments: [
            (
                Self.request(.post, path: "/rest/head/mobileAppV5/k/subscriptions/1", query: nil),
                true
            ),
            (Self.request(path: "/r/", query: "id=h138a,56c4,d57ff6&p1=x"), true),
            (Self.request(path: "/r/test", query: nil), true), (Self.request(.put), true),
            (Self.request(path: "/", query: nil), true), (Self.request(), false),
            (Self.request(.post, body: "{}"), false), (Self.request(.head), false),
        ])
    func passedOn(_ row: (request: DoorRequest, isPassed: Bool)) async throws {
        let (calls, upstream) = (try ScriptedCalls(.accepted), ScriptedUpstream(.found))
        let opened = Self.open(calls, Self.passing(), upstream)
        #expect(opened.door.takes(row.request))
        let response = await opened.door.answer(row.request)
        #expect(response.status == (row.isPassed ? .found : .ok))
        #expect(upstream.requests.map(\.server) == (row.isPassed ? [Self.server] : []))
        #expect(calls.calls.count == (row.isPassed || row.request.method == .head ? 0 : 1))
        #expect(opened.outcomes.upstream.withLock { $0 } == (row.isPassed ? [.answered] : []))
    }

    @Test("a row's own upstream goes before postback.upstream, and an unknown host has none")
    func ownUpstream() async throws {
        let upstream = ScriptedUpstream(.ok)
        let opened = Self.open(try ScriptedCalls(.accepted), Self.passing(), upstream)
        _ = await opened.door.answer(Self.request(host: "classic.example", path: "/x", query: nil))
        #expect(upstream.requests.map(\.server) == ["https://t.classic.example"])
        #expect(!opened.door.takes(Self.request(host: "b.example", path: "/x")))
        #expect(await opened.door.answer(Self.request(host: "b.example")).status == .notFound)
        #expect(upstream.requests.count == 1)
    }

    @Test(
        "with a mirror the app gets the server's answer, whatever becomes of the record",
        arguments: [HTTPResponse.Status.ok, .found, .notFound, .internalServerError],
        [Sightline_V1_Verdict.accepted, .retryLater, .rejected])
    func mirror(_ status: HTTPResponse.Status, _ verdict: Sightline_V1_Verdict) async throws {
        let (calls, upstream) = (try ScriptedCalls(verdict), ScriptedUpstream(status))
        let opened = Self.open(calls, Self.passing(mirror: true), upstream)
        let response = await opened.door.answer(Self.request())
        #expect(response.status == status && String(buffer: response.body) == "adobe")
        #expect(await opened.outcomes.settled(1).count == 1)
        #expect(calls.calls.count == 1 && upstream.requests.count == 1)
    }

    @Test("with a mirror a journal that stalls holds back the server's answer no longer")
    func stalled() async throws {
        let gate = Gate()
        let calls = try ScriptedCalls(.accepted, behind: gate)
        let opened = Self.open(calls, Self.passing(mirror: true), ScriptedUpstream(.found))
        let request = Self.request(body: "{}", callMetadata: ["sightline-call": "1"])
        #expect(await opened.door.answer(request).status == .found)
        #expect(opened.outcomes.postbacks.withLock { $0 } == [])
        gate.open()
        #expect(await opened.outcomes.settled(1) == [.recorded])
        // The counter with that number is closed by then.
        #expect(calls.calls.map(\.peer.callMetadata) == [[:]])
    }

    @Test("with a mirror an answer waits for its record for a second")
    func waitsForRecord() async throws {
        let (gate, clock) = (Gate(), TestClock(maxSleeps: 0))
        let opened = Self.open(
            try ScriptedCalls(.accepted, behind: gate), Self.passing(mirror: true),
            ScriptedUpstream(.found), clock: clock)
        async let answer = opened.door.answer(Self.request())
        await clock.waitUntilStuck()
        #expect(clock.sleeps == [.seconds(1)])
        gate.open()
        #expect(await answer.status == .found)
        #expect(opened.outcomes.postbacks.withLock { $0 } == [.recorded])
    }

    @Test("1,000 records may outlive their answers, and one more is not begun")
    func stalledRecords() async throws {
        let gate = Gate()
        var configuration = Self.passing(mirror: true)
        configuration.perAddressPerSecond = 0
        let upstream = ScriptedUpstream(.found)
        let opened = Self.open(
            try ScriptedCalls(.accepted, behind: gate), configuration, upstream)
        for _ in 0...1000 {
            #expect(await opened.door.answer(Self.request()).status == .found)
        }
        #expect(opened.outcomes.postbacks.withLock { $0 } == [.retry])
        gate.open()
        #expect(await opened.outcomes.settled(1001).count { $0 == .recorded } == 1000)
        #expect(upstream.requests.count == 1001)
    }

    @Test("a mirror passes on what is not recorded too: HEAD, and beyond the address's rate")
    func mirrorAll() async throws {
        let (calls, upstream) = (try ScriptedCalls(.accepted), ScriptedUpstream(.ok))
        var configuration = Self.passing(mirror: true)
        configuration.perAddressPerSecond = 1
        let opened = Self.open(calls, configuration, upstream)
        let wanted: [PostbackOutcome] = [.head, .recorded, .throttled]
        for (index, method) in [HTTPRequest.Method.head, .get, .get].enumerated() {
            #expect(await opened.door.answer(Self.request(method)).status == .ok)
            #expect(await opened.outcomes.settled(index + 1) == Array(wanted[...index]))
        }
        #expect(calls.calls.count == 1 && upstream.requests.count == 3)
    }

    @Test(
        "D69: without an answer of the server it is 503, never 502 or 504",
        arguments: [UpstreamOutcome.failed, .late, .tooLarge, .busy, .circle], [false, true])
    func noAnswer(_ outcome: UpstreamOutcome, _ mirror: Bool) async throws {
        let opened = Self.open(
            try ScriptedCalls(.accepted), Self.passing(mirror: mirror), ScriptedUpstream(outcome))
        let request = mirror ? Self.request() : Self.request(path: "/x", query: nil)
        let response = await opened.door.answer(request)
        #expect(response.status == .serviceUnavailable && response.body.readableBytes == 0)
        #expect(opened.outcomes.upstream.withLock { $0 } == [outcome])
    }

    @Test("what cannot be passed on is not found")
    func unfit() async throws {
        let opened = Self.open(
            try ScriptedCalls(.accepted), Self.passing(), ScriptedUpstream(.unfit))
        let request = Self.request(.trace, path: "/x", query: nil)
        #expect(await opened.door.answer(request).status == .notFound)
    }
}
