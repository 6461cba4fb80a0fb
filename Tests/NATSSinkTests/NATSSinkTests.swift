// What the nats sink does beyond every sink's contract, on a real server.
internal import CNats
@testable internal import NATSSink
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing

@Suite(
    .enabled(
        if: NATSConfiguration.testServer != nil,
        "SIGHTLINE_TEST_NATS is not the URL of a nats-server: `make test-swift` starts one"))
struct NATSSinkTests {
    private let directory: TemporaryDirectory
    private let configuration: NATSConfiguration
    private let stream: TestStream
    /// For a sink that only looks at the stream where it has to.
    private static let never = Duration.seconds(1_000_000)

    init() throws {
        self.directory = try TemporaryDirectory()
        self.configuration = try .test(self.directory)
        self.stream = try TestStream(self.configuration)
    }

    private func batch(_ id: Int) throws -> HitBatch {
        try TestHits.batch([TestEvents.full(id: id)], sequence: Int64(id))
    }

    private func ids() throws -> [String] { try self.stream.messages().map(\.hitID) }

    @Test(
        "a stream that is not what deliveries rest on is refused, with both values",
        arguments: [
            ("duplicates for 60 s, but nats.duplicate_seconds is 900", "window"),
            ("1048576 bytes, but nats.max_bytes is 67108864", "bytes"),
            ("discard has to be new", "discard"), ("storage has to be file", "memory"),
        ])
    func mismatch(_ words: String, _ what: String) async throws {
        try self.stream.make { config in
            switch what {
            case "window": config.Duplicates = 60_000_000_000
            case "bytes": config.MaxBytes = 1 << 20
            case "discard": config.Discard = js_DiscardOld
            default: config.Storage = js_MemoryStorage
            }
        }
        let answer = await NATSSink(self.configuration).deliver(try self.batch(1))
        guard case .unavailable(let reason) = answer else { Issue.record("\(answer)"); return }
        #expect(reason.contains(words), "\(reason)")
        #expect(try self.ids().isEmpty)
    }

    @Test("replicas and subjects are checked too")
    func replicas() async throws {
        try self.stream.make { _ in }
        var configuration = self.configuration
        configuration.replicas = 3
        configuration.subjectPrefix += ".other"
        let answer = await NATSSink(configuration).deliver(try self.batch(1))
        guard case .unavailable(let reason) = answer else { Issue.record("\(answer)"); return }
        #expect(reason.contains("it has 1 replicas, but nats.replicas is 3"), "\(reason)")
        #expect(reason.contains(".other.>"), "\(reason)")
    }

    @Test("a stream that is missing is not made where that is not asked for")
    func missing() async throws {
        var configuration = self.configuration
        configuration.makesStream = false
        let answer = await NATSSink(configuration).deliver(try self.batch(1))
        guard case .unavailable(let reason) = answer else { Issue.record("\(answer)"); return }
        #expect(reason.contains("nats.make_stream"), "\(reason)")
    }

    @Test("a message that is too large for the stream is refused for good, and no other")
    func tooLarge() async throws {
        try self.stream.make { $0.MaxMsgSize = 1500 }
        var large = TestEvents.full(id: 2)
        large.eventID = String(repeating: "x", count: 64)
        large.push.apns.aps.alert.title = String(repeating: "t", count: 1500)
        let batch = try TestHits.batch([TestEvents.full(id: 1), large, TestEvents.full(id: 3)])
        let answer = await NATSSink(self.configuration).deliver(batch)
        guard case .rejected(let reasons) = answer else { Issue.record("\(answer)"); return }
        #expect(reasons.keys.sorted() == [1])
        #expect(reasons[1]?.contains("10054") == true, "\(reasons)")
        #expect(try self.ids().count == 2)
    }

    @Test("a full stream refuses for now, and loses nothing")
    func full() async throws {
        try self.stream.make { $0.MaxMsgs = 2 }
        let sink = NATSSink(self.configuration)
        #expect(await sink.deliver(try self.batch(1)) == .delivered)
        let answer = await sink.deliver(
            try TestHits.batch((2...4).map { TestEvents.full(id: $0) }))
        guard case .unavailable = answer else { Issue.record("\(answer)"); return }
        #expect(try self.ids().count == 2)
    }

    @Test("a stream made anew is noticed by the next batch, also after a restart, and once")
    func madeAnew() async throws {
        var sink = NATSSink(self.configuration)
        for id in 1...2 { #expect(await sink.deliver(try self.batch(id)) == .delivered) }
        let token = sink.resumeToken
        #expect(!token.isEmpty)
        try self.stream.delete()
        sink = NATSSink(self.configuration)
        sink.resume(at: token)
        let answer = await sink.deliver(try self.batch(3))
        #expect(answer == .dataLoss(reason: "the stream was made anew"))
        for id in 1...3 { #expect(await sink.deliver(try self.batch(id)) == .delivered) }
        #expect(try self.ids().count == 3)
    }

    @Test("a stream deleted and made anew between two batches of one connection is noticed")
    func madeAnewUnderway() async throws {
        let sink = NATSSink(self.configuration, lookInterval: Self.never)
        for id in 1...2 { #expect(await sink.deliver(try self.batch(id)) == .delivered) }
        try self.stream.delete()
        try self.stream.make { $0.MaxBytes = 64 << 20 }
        // The first one may go through: where it went is what tells.
        guard case .unavailable = await sink.deliver(try self.batch(3)) else {
            Issue.record("delivered to a stream that has lost what was before"); return
        }
        let answer = await sink.deliver(try self.batch(3))
        #expect(answer == .dataLoss(reason: "the stream was made anew"))
        for id in 1...3 { #expect(await sink.deliver(try self.batch(id)) == .delivered) }
        #expect(Set(try self.ids()).count == 3)
        #expect(try self.ids().count == 3)
    }

    @Test("a stream made anew and filled beyond the place before a look is noticed by the next")
    func madeAnewAndFilled() async throws {
        let sink = NATSSink(self.configuration, lookInterval: Self.never)
        for id in 1...2 { #expect(await sink.deliver(try self.batch(id)) == .delivered) }
        try self.stream.delete()
        let other = NATSSink(self.configuration)
        for id in 11...15 { #expect(await other.deliver(try self.batch(id)) == .delivered) }
        #expect(await sink.deliver(try self.batch(3)) == .delivered)
        let next = NATSSink(self.configuration)
        next.resume(at: sink.resumeToken)
        let answer = await next.deliver(try self.batch(4))
        #expect(answer == .dataLoss(reason: "the stream was made anew"))
    }

    @Test("a place that is still there is gone on from, also after a restart")
    func resumed() async throws {
        var sink = NATSSink(self.configuration)
        #expect(await sink.deliver(try self.batch(1)) == .delivered)
        let token = sink.resumeToken
        sink = NATSSink(self.configuration)
        sink.resume(at: token)
        #expect(await sink.deliver(try self.batch(2)) == .delivered)
        #expect(sink.resumeToken != token)
        #expect(try self.ids().count == 2)
    }

    @Test("a server that is not there is said with its URL")
    func noServer() async throws {
        var configuration = self.configuration
        configuration.servers = ["nats://127.0.0.1:1"]
        let answer = await NATSSink(configuration).deliver(try self.batch(1))
        guard case .unavailable(let reason) = answer else { Issue.record("\(answer)"); return }
        #expect(reason.contains("nats://127.0.0.1:1"), "\(reason)")
    }

    @Test("a window of one hit delivers as much as any other")
    func smallWindow() async throws {
        var configuration = self.configuration
        configuration.maxInFlight = 1
        let batch = try TestHits.batch((1...50).map { TestEvents.full(id: $0) })
        #expect(await NATSSink(configuration).deliver(batch) == .delivered)
        #expect(try self.ids().count == 50)
    }
}
