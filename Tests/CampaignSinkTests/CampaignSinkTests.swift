// What the campaign sink does beyond every sink's contract, against a server on loopback.
@testable internal import CampaignSink
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TrackingRules

@Suite(.timeLimit(.minutes(10)))
struct CampaignSinkTests {
    /// A batch of received notifications: one hit each.
    private func batch(_ ids: ClosedRange<Int>, sequence: Int64 = 1) throws -> HitBatch {
        try TestHits.batch(ids.map { TestEvents.full(id: $0) }, sequence: sequence)
    }

    /// A batch of opened notifications: a click and an open each.
    private func opened(_ ids: ClosedRange<Int>) throws -> HitBatch {
        try TestHits.batch(ids.map { TestEvents.opened(id: $0) })
    }

    private func query(_ id: Int, _ action: Int) -> String {
        "?id=h\(String(id, radix: 16)),56c4,\(action)&mcId=subject-\(id)"
    }

    private func reason(_ answer: SinkAnswer) -> String {
        guard case .unavailable(let reason) = answer else {
            Issue.record("\(answer)")
            return ""
        }
        return reason
    }

    @Test("D14: with 32 in flight a click is answered before its open is sent")
    func orderOfNotification() async throws {
        // All of the clicks are there at once, and then all of the opens.
        let barrier = Barrier(of: 32)
        let receiver = CampaignReceiver { _ in
            await barrier.pass()
            return .counted
        }
        let sink = CampaignSink(try await receiver.configuration())
        #expect(await sink.deliver(try self.opened(1...64)) == .delivered)
        let steps = receiver.steps
        #expect(steps.count == 256)
        for id in 1...64 {
            let wanted: [CampaignReceiver.Step] = [
                .came(self.query(id, 2)), .answered(self.query(id, 2), 200),
                .came(self.query(id, 1)), .answered(self.query(id, 1), 200),
            ]
            #expect(steps.filter(wanted.contains) == wanted)
        }
        #expect(receiver.mostInFlight == 32)
    }

    @Test(
        "as many requests are in flight as may be, to all servers, and never more",
        arguments: [1, 3, 8])
    func inFlight(_ limit: Int) async throws {
        // Passes only if there are as many; more of them would be seen.
        let barrier = Barrier(of: limit)
        let receiver = CampaignReceiver { _ in
            await barrier.pass()
            return .counted
        }
        let configuration = try await receiver.configuration { configuration in
            configuration.maxInFlight = limit
            // Another name makes another server, whose connections are counted apart.
            let classic = configuration.servers["default"]?.classic
            configuration.servers["default"]?.classic =
                classic?.replacing("127.0.0.1", with: "localhost")
        }
        let sink = CampaignSink(configuration)
        #expect(sink.maxBatch.hits == limit)
        let events = (1...(limit * 6)).flatMap { id in
            [TestEvents.full(id: id), Self.classic("\(id)")]
        }
        #expect(await sink.deliver(try TestHits.batch(events)) == .delivered)
        #expect(receiver.mostInFlight == limit)
        #expect(Set(receiver.counted).count == limit * 12)
    }

    @Test("with one in flight everything is in the journal's order")
    func oneInFlight() async throws {
        let receiver = CampaignReceiver()
        let sink = CampaignSink(try await receiver.configuration { $0.maxInFlight = 1 })
        #expect(await sink.deliver(try self.opened(1...20)) == .delivered)
        #expect(receiver.queries == (1...20).flatMap { [self.query($0, 2), self.query($0, 1)] })
    }

    @Test("D38: in a storm of 503 nothing is sent again after its 200, and clicks stay first")
    func storm() async throws {
        let tries = Mutex<[String: Int]>([:])
        let receiver = CampaignReceiver { query in
            let number = tries.withLock { tries in
                tries[query, default: 0] += 1
                return tries[query] ?? 0
            }
            // From none to four failures, differently for each.
            let failures = query.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xffff } % 5
            return number > failures ? .counted : .init(status: number % 2 == 0 ? 500 : 503)
        }
        let sink = CampaignSink(try await receiver.configuration { $0.maxInFlight = 8 })
        let batch = try self.opened(1...50)
        var answer = await sink.deliver(batch)
        var attempts = 1
        while answer != .delivered, attempts < 1000 {
            #expect(self.reason(answer).contains("status 50"))
            answer = await sink.deliver(batch)
            attempts += 1
        }
        #expect(answer == .delivered)
        let (counted, steps) = (receiver.counted, receiver.steps)
        #expect(counted.count == 100 && Set(counted).count == 100)
        for id in 1...50 {
            let click = steps.firstIndex(of: .answered(self.query(id, 2), 200))
            let open = steps.firstIndex(of: .came(self.query(id, 1)))
            let (clicked, opened) = (try #require(click), try #require(open))
            #expect(clicked < opened)
        }
    }

    @Test("what was refused for good is told with the answer that settles the batch, and only once")
    func refusedThenUnavailable() async throws {
        let isDown = Mutex(true)
        let receiver = CampaignReceiver { query in
            if query.contains("subject-2") { return .init(status: 404) }
            if query.contains("subject-3"), isDown.withLock({ $0 }) { return .init(status: 503) }
            return .counted
        }
        let sink = CampaignSink(try await receiver.configuration())
        let batch = try self.batch(1...3)
        let reason = self.reason(await sink.deliver(batch))
        #expect(reason.contains("1 of 3 requests are left"))
        isDown.withLock { $0 = false }
        #expect(
            await sink.deliver(batch)
                == .rejected([1: "Campaign's server answers with status 404"]))
        #expect(receiver.queries.count == 4)
    }

    @Test("a server that is down is asked as often as requests may be in flight, and no more")
    func outage() async throws {
        let receiver = CampaignReceiver { _ in .init(status: 503) }
        let sink = CampaignSink(try await receiver.configuration { $0.maxInFlight = 4 })
        _ = self.reason(await sink.deliver(try self.batch(1...100)))
        // Each of the other three that were in flight may have let one more go.
        #expect((4...7).contains(receiver.queries.count), "\(receiver.queries.count)")
    }

    @Test("a redirect is not followed, and is a dead letter that does not say where it leads")
    func redirect() async throws {
        let target = CampaignReceiver()
        let receiver = CampaignReceiver { query in
            .init(status: 302, headers: ["Location": target.path + query])
        }
        let sink = CampaignSink(try await receiver.configuration())
        let answer = await sink.deliver(try self.batch(1...1))
        guard case .rejected(let reasons) = answer else { Issue.record("\(answer)"); return }
        #expect(reasons[0]?.contains("status 302") == true)
        #expect(reasons[0]?.contains(target.path) == false)
        #expect(target.queries.isEmpty)
    }

    @Test("a server that says nothing is unavailable when its time is over", arguments: [1, 2])
    func stalled(_ product: Int) async throws {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        defer { continuation.finish() }
        let receiver = CampaignReceiver { _ in
            for await _ in stream {}
            return .counted
        }
        let configuration = try await receiver.configuration { configuration in
            configuration.standardTimeout = .milliseconds(product == 1 ? 100 : 3_600_000)
            configuration.classicTimeout = .milliseconds(product == 2 ? 100 : 3_600_000)
        }
        let sink = CampaignSink(configuration)
        let event = product == 1 ? TestEvents.full(id: 1) : Self.classic("5")
        let reason = self.reason(await sink.deliver(try TestHits.batch([event])))
        #expect(reason.contains("no answer in time"))
        #expect(receiver.queries.count <= 1)
    }

    private static func classic(_ id: String) -> Sightline_V1_TrackingEvent {
        var event = TestEvents.action(.click, id: 1, product: .classic)
        event.trackAction.broadlogID = id
        return event
    }

    @Test("D36, D37: each product goes to its own server, and Firebase's hits to none")
    func products() async throws {
        let receiver = CampaignReceiver()
        var inApp = TestEvents.full(id: 9)
        inApp.inApp.messageID = "m"
        inApp.inApp.impression = .init()
        var nobody = TestEvents.full(id: 8)
        nobody.subjectID = ""
        let events = [
            TestEvents.full(id: 1), Self.classic("55336"), inApp, nobody, Self.classic("h138a"),
        ]
        let sink = CampaignSink(try await receiver.configuration { $0.maxInFlight = 1 })
        let answer = await sink.deliver(try TestHits.batch(events))
        guard case .rejected(let reasons) = answer else { Issue.record("\(answer)"); return }
        #expect(reasons.keys.sorted() == [4])
        #expect(receiver.queries == [self.query(1, 7), "?id=hd828,56c4,2"])
    }

    @Test("D36, D37, D59: what a sender reports is settled without a request, whatever its ids")
    func sends() async throws {
        let receiver = CampaignReceiver()
        let events = [Sightline_V1_CampaignProduct.standard, .classic].flatMap { product in
            [Sightline_V1_PushSendOutcome.sent, .failed, .skipped].map { outcome in
                // No id of Classic's: a hit that is sent would be refused.
                var event = TestEvents.send(outcome, id: 0x138a, product: product)
                event.subjectID = "subject-1"
                return event
            }
        }
        let batch = try TestHits.batch(events + [TestEvents.full(id: 2)])
        #expect(batch.hitCount == 7)
        // Nor is a tenant's missing server told of.
        let foreign = try TestHits.batch(events, sequence: 2, tenant: "acme")
        let sink = CampaignSink(try await receiver.configuration { $0.maxInFlight = 1 })
        #expect(await sink.deliver(batch) == .delivered)
        #expect(await sink.deliver(foreign) == .delivered)
        #expect(receiver.queries == [self.query(2, 7)])
    }

    @Test("a hit of a tenant without a server is a dead letter that says what to add")
    func noServer() async throws {
        let receiver = CampaignReceiver()
        let configuration = try await receiver.configuration {
            $0.servers["default"]?.classic = nil
        }
        let sink = CampaignSink(configuration)
        let foreign = try TestHits.batch([TestEvents.full(id: 1)], tenant: "acme")
        let classic = try TestHits.batch([Self.classic("1"), TestEvents.full(id: 2)])
        for (batch, words) in [
            (foreign, "{tenant: acme, standard: "), (classic, "{tenant: default, classic: "),
        ] {
            let answer = await sink.deliver(batch)
            guard case .rejected(let reasons) = answer else { Issue.record("\(answer)"); continue }
            #expect(reasons.count == 1)
            #expect(reasons[0]?.contains(words) == true, "\(reasons)")
        }
        #expect(receiver.queries == [self.query(2, 7)])
    }

    @Test("a Retry-After is kept, up to its limit", arguments: [("7", 7), ("1000", 10)])
    func retryAfter(_ header: String, _ seconds: Int) async throws {
        let isBusy = Mutex(true)
        let receiver = CampaignReceiver { _ in
            isBusy.withLock { $0 }
                ? .init(status: 429, headers: ["Retry-After": header]) : .counted
        }
        let clock = TestClock()
        let configuration = try await receiver.configuration {
            $0.maxRetryAfter = .seconds(10)
            $0.maxInFlight = 1
        }
        let sink = CampaignSink(configuration, now: { clock.now })
        let batch = try self.batch(1...3)
        let refusal = self.reason(await sink.deliver(batch))
        #expect(refusal.contains("status 429"))
        #expect(receiver.queries.count == 1)
        isBusy.withLock { $0 = false }
        clock.advance(by: .seconds(seconds) - .milliseconds(1))
        let hold = self.reason(await sink.deliver(batch))
        #expect(hold.contains("asked for time"))
        #expect(receiver.queries.count == 1)
        clock.advance(by: .milliseconds(1))
        #expect(await sink.deliver(batch) == .delivered)
        #expect(receiver.counted == (1...3).map { self.query($0, 7) })
    }

    @Test("a server that is down keeps no other server's hits back, and no URL is told")
    func otherServer() async throws {
        let receiver = CampaignReceiver()
        let configuration = try await receiver.configuration { configuration in
            configuration.servers["default"]?.classic = "http://127.0.0.1:1"
            configuration.maxInFlight = 1
        }
        let sink = CampaignSink(configuration)
        let batch = try TestHits.batch([Self.classic("1"), TestEvents.full(id: 2)])
        let reason = self.reason(await sink.deliver(batch))
        #expect(reason.contains("the classic server of the tenant default: "), "\(reason)")
        #expect(reason.contains("1 of 2 requests are left"), "\(reason)")
        #expect(!reason.contains("56c4") && !reason.contains("?id"), "\(reason)")
        #expect(receiver.counted == [self.query(2, 7)])
    }

    @Test("a long answer still counts, and so does the next one")
    func longBody() async throws {
        let receiver = CampaignReceiver { _ in .init(bodyBytes: 4 << 20) }
        let sink = CampaignSink(try await receiver.configuration { $0.maxInFlight = 1 })
        #expect(await sink.deliver(try self.batch(1...3)) == .delivered)
        #expect(receiver.counted.count == 3)
    }

    @Test("a batch that comes between two attempts of another does not make it forget")
    func replayBetween() async throws {
        let isDown = Mutex(true)
        let receiver = CampaignReceiver { query in
            query.contains("subject-2&") || query.hasSuffix("subject-2")
                ? .init(status: isDown.withLock { $0 } ? 503 : 200) : .counted
        }
        let sink = CampaignSink(try await receiver.configuration())
        let first = try self.batch(1...3)
        _ = self.reason(await sink.deliver(first))
        #expect(await sink.deliver(try self.batch(11...13, sequence: 1)) == .delivered)
        isDown.withLock { $0 = false }
        #expect(await sink.deliver(first) == .delivered)
        #expect(Set(receiver.counted).count == 6 && receiver.counted.count == 6)
    }
}
