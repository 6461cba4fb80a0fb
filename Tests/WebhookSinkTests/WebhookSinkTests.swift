// What the webhook sink does with a receiver's answers, over real connections.
@testable internal import Delivery
internal import Foundation
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing
internal import TrackingRules
@testable internal import WebhookSink

struct WebhookSinkTests {
    let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    func sink(
        _ receiver: TestReceiver, _ clock: TestClock = TestClock(),
        _ change: (inout WebhookConfiguration) -> Void = { _ in }
    ) throws -> WebhookSink {
        try self.sink(receiver, clock, lookup: WebhookResolver.system, change)
    }

    func sink(
        _ receiver: TestReceiver, _ clock: TestClock, lookup: @escaping WebhookResolver.Lookup,
        _ change: (inout WebhookConfiguration) -> Void = { _ in }
    ) throws -> WebhookSink {
        try WebhookSink(
            .test(receiver, self.directory, change),
            clock: WebhookClock(
                now: { clock.now },
                seconds: { 1_700_000_000 + clock.elapsed.components.seconds }),
            lookup: lookup)
    }

    func batch(_ ids: ClosedRange<Int>, sequence: Int64 = 1) throws -> HitBatch {
        try TestHits.batch(ids.map { TestEvents.full(id: $0) }, sequence: sequence)
    }

    func ids(_ batch: HitBatch) throws -> [String] { try batch.records.map(\.hitID.hex) }

    /// Expects the answer "unavailable", or "partly", with words in its reason.
    func expectUnavailable(_ answer: SinkAnswer, _ words: String, partly: Bool = false) {
        let reason: String
        switch answer {
        case .unavailable(let told) where !partly: reason = told
        case .progressed(let told) where partly: reason = told
        default:
            Issue.record("\(answer)")
            return
        }
        #expect(reason.contains(words), "\(reason)")
        // The URL's path and query may be secret.
        #expect(!reason.contains("hidden") && !reason.contains("/hits"), "\(reason)")
    }

    @Test("a request is a signed batch of CloudEvents, over one connection")
    func request() async throws {
        let receiver = try TestReceiver()
        let sink = try self.sink(receiver) { $0.maxHits = 4 }
        #expect(await sink.deliver(try self.batch(1...10)) == .delivered)
        let requests = receiver.requests
        #expect(try requests.map { try $0.events.count } == [4, 4, 2])
        for request in requests {
            #expect(request.line == "POST /hits?token=hidden HTTP/1.1")
            #expect(request.headers["content-type"] == "application/cloudevents-batch+json")
            #expect(request.headers["webhook-timestamp"] == "1700000000")
            #expect(request.headers["host"] == "127.0.0.1:\(receiver.port)")
            #expect(request.headers.keys.allSatisfy { !$0.hasPrefix("ce-") })
            #expect(request.isSigned(by: WebhookConfiguration.testKey))
            #expect(!request.isSigned(by: [1]))
        }
        #expect(Set(requests.compactMap { $0.headers["webhook-id"] }).count == 3)
        #expect(receiver.connectionCount == 1)
        #expect(try receiver.events.map(\.id) == self.ids(self.batch(1...10)))
    }

    @Test("a retry has the same webhook-id and the time of the attempt; what was taken stays away")
    func retry() async throws {
        let receiver = try TestReceiver([.answer(200), .answer(503), .close, .answer(502)])
        let clock = TestClock()
        let sink = try self.sink(receiver, clock) { $0.maxHits = 2 }
        let batch = try self.batch(1...6)
        for (words, partly) in [
            ("answered 503", true), ("no answer", false), ("answered 502", false),
        ] {
            self.expectUnavailable(await sink.deliver(batch), words, partly: partly)
            clock.advance(by: .seconds(7))
        }
        #expect(await sink.deliver(batch) == .delivered)
        let requests = receiver.requests
        #expect(try requests.map { try $0.events.count } == [2, 2, 2, 2, 2, 2])
        let ids = requests.compactMap { $0.headers["webhook-id"] }
        #expect(Set(ids[1...4]).count == 1)
        #expect(Set(ids).count == 3)
        let times = requests.compactMap { $0.headers["webhook-timestamp"] }
        #expect(times[1...4] == ["1700000000", "1700000007", "1700000014", "1700000021"])
        #expect(requests.allSatisfy { $0.isSigned(by: WebhookConfiguration.testKey) })
    }

    @Test("a subject that is forgotten between two tries makes nothing be sent again")
    func forgotten() async throws {
        let receiver = try TestReceiver([.answer(200), .answer(503)])
        let sink = try self.sink(receiver) { $0.maxHits = 2 }
        let batch = try self.batch(1...4)
        self.expectUnavailable(await sink.deliver(batch), "503", partly: true)
        let forgotten = ForgottenSubjects(key: [7])
        let subject = Subject(tenant: "default", ids: ["subject-1"])
        forgotten.insert(forgotten.hashes(of: subject))
        #expect(await sink.deliver(try batch.masked(by: forgotten)) == .delivered)
        #expect(try receiver.requests.map { try $0.events.count } == [2, 2, 2])
    }

    @Test("another batch in between begins anew, with the same webhook-id for the same body")
    func interrupted() async throws {
        let receiver = try TestReceiver([.answer(200), .answer(503)])
        let sink = try self.sink(receiver) { $0.maxHits = 2 }
        let batch = try self.batch(1...4)
        self.expectUnavailable(await sink.deliver(batch), "503", partly: true)
        #expect(await sink.deliver(try self.batch(7...7, sequence: 9)) == .delivered)
        #expect(await sink.deliver(batch) == .delivered)
        let ids = receiver.requests.compactMap { $0.headers["webhook-id"] }
        #expect(ids.count == 5 && ids[3] == ids[0] && ids[4] == ids[1])
    }

    @Test("hits that the receiver refuses are rejected with its reason, and no other")
    func refusals() async throws {
        let reply = TestReceiver.Reply.of { body in
            let text = String(decoding: body, as: UTF8.self)
            let ids = text.split(separator: "\"id\":\"").dropFirst().map { $0.prefix(32) }
            let item = "{\"id\":\"\(ids[1])\",\"reason\":\"too old\"}"
            return .answer(
                200, headers: ["content-type": "application/json"],
                body: "{\"rejected\":[\(item)]}")
        }
        let receiver = try TestReceiver([reply, reply])
        let sink = try self.sink(receiver) { $0.maxHits = 3 }
        #expect(
            await sink.deliver(try self.batch(1...7))
                == .rejected([
                    1: "the receiver refused it: too old", 4: "the receiver refused it: too old",
                ]))
        #expect(receiver.requests.count == 3)
    }

    @Test("one hit that a receiver answers 400 or 422 to harms no other", arguments: [400, 422])
    func halving(status: Int) async throws {
        let bad = try self.ids(self.batch(6...6))[0]
        let reply = TestReceiver.Reply.of { body in
            .answer(String(decoding: body, as: UTF8.self).contains(bad) ? status : 204)
        }
        let receiver = try TestReceiver(Array(repeating: reply, count: 40))
        let sink = try self.sink(receiver) { $0.maxHits = 8 }
        let reason = "the receiver answered \(status) to the hit"
        #expect(await sink.deliver(try self.batch(1...16)) == .rejected([5: reason]))
        #expect(receiver.requests.count <= 12, "\(receiver.requests.count)")
    }

    @Test("413 makes bodies smaller, and only a hit that is too large alone is rejected")
    func tooLarge() async throws {
        let reply = TestReceiver.Reply.of { .answer($0.count > 3000 ? 413 : 200) }
        let receiver = try TestReceiver(Array(repeating: reply, count: 60))
        let sink = try self.sink(receiver)
        var events = (1...20).map { TestEvents.full(id: $0) }
        events[8].push.apns.aps.alert.body = String(repeating: "x", count: 3000)
        let answer = await sink.deliver(try TestHits.batch(events))
        #expect(
            answer == .rejected([8: "the receiver answered 413: the hit alone is too large"]))
        let before = receiver.requests.count
        // What was learned holds for later batches.
        #expect(await sink.deliver(try self.batch(31...40, sequence: 2)) == .delivered)
        #expect(receiver.requests[before...].allSatisfy { $0.body.count <= 3000 })
    }

    @Test("max_bytes: a body of so many bytes is sent, and a hit of one more is rejected")
    func maxBytes() async throws {
        var large = TestEvents.full(id: 1)
        large.push.apns.aps.alert.body = String(repeating: "x", count: 2000)
        let batch = try TestHits.batch([large, TestEvents.full(id: 2)])
        var events = try WebhookEvents(source: "/sightline")
        _ = try events.encode(batch)
        let size = WebhookPart.bytes(of: events.events[..<1])
        let receiver = try TestReceiver()
        let exact = try self.sink(receiver) { $0.maxBytes = size }
        #expect(await exact.deliver(batch) == .delivered)
        #expect(receiver.requests.map(\.body.count).max() == size)
        let sink = try self.sink(receiver) { $0.maxBytes = size - 1 }
        #expect(
            await sink.deliver(batch)
                == .rejected([0: "\(size) bytes, and webhook.max_bytes is \(size - 1)"]))
    }

    @Test("hits that are too large say nothing of the receiver, however many they are")
    func manyTooLarge() async throws {
        let receiver = try TestReceiver()
        let sink = try self.sink(receiver) { ($0.maxBytes, $0.maxRefusedInRow) = (1, 2) }
        guard case .rejected(let reasons) = await sink.deliver(try self.batch(1...8)) else {
            Issue.record("no rejections")
            return
        }
        #expect(reasons.count == 8)
        #expect(receiver.requests.isEmpty)
    }

    @Test("max_refused_in_row: so many hits are rejected; then the sink waits if [] is refused too")
    func allRefused() async throws {
        let receiver = try TestReceiver(Array(repeating: .answer(400), count: 100))
        let sink = try self.sink(receiver) { $0.maxRefusedInRow = 5 }
        let batch = try self.batch(1...8)
        for partly in [true, false] {
            self.expectUnavailable(
                await sink.deliver(batch), "5 hits in a row were refused", partly: partly)
        }
        receiver.answer([])
        guard case .rejected(let reasons) = await sink.deliver(batch) else {
            Issue.record("no rejections")
            return
        }
        #expect(reasons.keys.sorted() == Array(0..<5))
        receiver.answer(Array(repeating: .answer(400), count: 100))
        guard case .rejected(let next) = await sink.deliver(try self.batch(9...13, sequence: 2))
        else {
            Issue.record("no rejections")
            return
        }
        #expect(next.count == 5)
    }

    @Test(
        "Retry-After is observed up to max_retry_after_seconds",
        arguments: [
            (TestReceiver.Reply.answer(429, headers: ["retry-after": "30"]), 30),
            (.answer(503, headers: ["Retry-After": "61"]), 60),
            (.answer(503, headers: ["retry-after": "Tue, 14 Nov 2023 22:13:40 GMT"]), 20),
        ] as [(TestReceiver.Reply, Int)])
    func waits(_ reply: TestReceiver.Reply, _ seconds: Int) async throws {
        let receiver = try TestReceiver([reply])
        let clock = TestClock()
        let sink = try self.sink(receiver, clock) {
            $0.maxRetryAfter = .seconds(60)
        }
        let batch = try self.batch(1...1)
        self.expectUnavailable(await sink.deliver(batch), "the receiver answered")
        clock.advance(by: .seconds(seconds) - .milliseconds(1))
        self.expectUnavailable(await sink.deliver(batch), "; 1 s are left")
        #expect(receiver.requests.count == 1)
        clock.advance(by: .milliseconds(1))
        #expect(await sink.deliver(batch) == .delivered)
        #expect(receiver.requests.count == 2)
    }

    @Test("JSON is read up to its limit, and one byte more is not")
    func answerBytes() async throws {
        for (bytes, isRead) in [(1024, true), (1025, false)] {
            let body = "{}" + String(repeating: " ", count: bytes - 2)
            let receiver = try TestReceiver([
                .answer(200, headers: ["content-type": "application/json"], body: body)
            ])
            let sink = try self.sink(receiver) { $0.maxAnswerBytes = 1024 }
            let answer = await sink.deliver(try self.batch(1...1))
            #expect((answer == .delivered) == isRead, "\(answer)")
        }
    }

    @Test("hits whose refusals are too long for one answer are sent in smaller requests")
    func longAnswers() async throws {
        let refuse = TestReceiver.Reply.of { body in
            let text = String(decoding: body, as: UTF8.self)
            let parts = text.split(separator: "\"id\":\"").dropFirst()
            let ids = parts.map { part in part.prefix { $0 != "\"" } }
            let reason = String(repeating: "x", count: 100)
            let rows = ids.map { #"{"id":"\#($0)","reason":"\#(reason)"}"# }
            return .answer(
                200, headers: ["content-type": "application/json"],
                body: #"{"rejected":[\#(rows.joined(separator: ","))]}"#)
        }
        let receiver = try TestReceiver(Array(repeating: refuse, count: 100))
        let sink = try self.sink(receiver) { $0.maxAnswerBytes = 1024 }
        let answer = await sink.deliver(try self.batch(1...20))
        guard case .rejected(let rejected) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(rejected.count == 20 && receiver.requests.count < 10)
    }
}
