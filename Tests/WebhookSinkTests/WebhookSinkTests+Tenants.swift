// Whose hits a receiver refuses, and what that is to the others.
internal import Foundation
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing
@testable internal import WebhookSink

extension WebhookSinkTests {
    /// Answers 400 to a body with a hit of the tenant `bad`, and to one without hits as it is told.
    private static func picky(emptyBody status: Int = 204) -> TestReceiver.Reply {
        .of { body in
            if body == [UInt8]("[]".utf8) { return .answer(status) }
            return .answer(String(decoding: body, as: UTF8.self).contains("/bad\"") ? 400 : 204)
        }
    }

    /// Groups of some hits of a tenant each, joined.
    private func joined(
        _ groups: [(tenant: String, count: Int)], from first: Int
    ) throws -> HitBatch {
        var id = first
        return HitBatch(
            joining: try groups.enumerated().map { number, group in
                let events = (id..<(id + group.count)).map { TestEvents.full(id: $0) }
                id += group.count
                return try TestHits.batch(
                    events, sequence: Int64(first + number), tenant: group.tenant)
            })
    }

    private func positions(_ answer: SinkAnswer) -> [Int] {
        guard case .rejected(let reasons) = answer else {
            Issue.record("\(answer)")
            return []
        }
        return reasons.keys.sorted()
    }

    @Test("a tenant whose hits are refused stops no other: they become its dead letters, and told")
    func oneTenantRefused() async throws {
        let receiver = try TestReceiver(Array(repeating: Self.picky(), count: 300))
        let log = KeptLog()
        let configuration = try WebhookConfiguration.test(receiver, self.directory) {
            ($0.maxHits, $0.maxRefusedInRow) = (10, 5)
        }
        let sink = try WebhookSink(configuration, logger: log.logger)
        // The first hits of all are wrong: nothing was accepted that would speak for the receiver.
        let first = await sink.deliver(try self.joined([("bad", 100)], from: 1))
        #expect(self.positions(first) == Array(0..<100))
        #expect(receiver.requests.count { $0.body == [UInt8]("[]".utf8) } == 1)
        #expect(receiver.requests.count < 40, "\(receiver.requests.count)")
        let told = log.metadata(of: "too many hits of a tenant are refused")
        #expect(told.map { $0["tenant"] } == ["bad"])

        let before = receiver.requests.count
        let next = await sink.deliver(
            try self.joined([("good", 10), ("bad", 95), ("good", 10)], from: 201))
        #expect(self.positions(next) == Array(10..<105))
        // Ten requests for the refused ones, which nobody looks for one by one any more.
        #expect(receiver.requests.count - before == 12)
        #expect(log.metadata(of: "too many hits of a tenant are refused").count == 1)
    }

    @Test("a reason for several hits at once says that it may be another's")
    func reasons() async throws {
        let receiver = try TestReceiver(Array(repeating: Self.picky(), count: 100))
        let sink = try self.sink(receiver) { ($0.maxHits, $0.maxRefusedInRow) = (4, 1) }
        let answer = await sink.deliver(try self.joined([("bad", 6)], from: 1))
        guard case .rejected(let reasons) = answer else { Issue.record("\(answer)"); return }
        let alone = "the receiver answered 400 to the hit"
        #expect(reasons[0] == alone && reasons[1] == alone)
        #expect(reasons[5]?.hasPrefix(alone + ", or to another of the 4 hits") == true)
    }

    @Test("an accepted hit of anybody speaks for the receiver, which then is not asked")
    func othersSpeakForIt() async throws {
        let receiver = try TestReceiver(Array(repeating: Self.picky(emptyBody: 400), count: 100))
        let sink = try self.sink(receiver) { ($0.maxHits, $0.maxRefusedInRow) = (4, 3) }
        let answer = await sink.deliver(
            try self.joined([("bad", 2), ("good", 1), ("bad", 9)], from: 1))
        #expect(self.positions(answer) == [0, 1] + Array(3..<12))
        #expect(receiver.requests.allSatisfy { $0.body != [UInt8]("[]".utf8) })
    }

    @Test("the hits of a tenant are found one by one again once the receiver accepts one")
    func mended() async throws {
        let receiver = try TestReceiver(Array(repeating: Self.picky(), count: 100))
        let sink = try self.sink(receiver) { ($0.maxHits, $0.maxRefusedInRow) = (4, 1) }
        #expect(
            self.positions(await sink.deliver(try self.joined([("bad", 8)], from: 1)))
                == Array(0..<8))
        receiver.answer([])
        #expect(await sink.deliver(try self.joined([("bad", 8)], from: 21)) == .delivered)
        // One of four is wrong, and it alone becomes a dead letter.
        let wrong = try self.ids(self.joined([("bad", 1)], from: 42))[0]
        let reply = TestReceiver.Reply.of { body in
            .answer(String(decoding: body, as: UTF8.self).contains(wrong) ? 400 : 204)
        }
        receiver.answer(Array(repeating: reply, count: 20))
        #expect(self.positions(await sink.deliver(try self.joined([("bad", 4)], from: 41))) == [1])
    }

    @Test("a tenant to blame shares no request with others, and two others share one")
    func apart() throws {
        var events = try WebhookEvents(source: "/s")
        _ = try events.encode(
            try self.joined([("a", 2), ("b", 2), ("bad", 3), ("a", 1)], from: 1))
        let all = events.events[...]
        let blamed: Set = [[UInt8]("bad".utf8)]
        for (start, end) in [(0, 4), (1, 4), (4, 7), (6, 7), (7, 8)] {
            let part = WebhookPart.first(of: all[start...], hits: 9, bytes: .max, apart: blamed)
            #expect(part == start..<end)
        }
        #expect(WebhookPart.first(of: all, hits: 9, bytes: .max) == 0..<8)
    }
}
