// The events of a load: new hits every time, but for those that the mix repeats.
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing

@testable internal import sightline
internal import TrackingRules

struct BenchEventsTests {
    private static func events(_ mix: BenchPlan.Mix) throws -> BenchEvents {
        try BenchEvents(mix, run: 0xabcdef)
    }

    /// The events of a request.
    private static func sent(
        _ mix: BenchPlan.Mix, _ numbers: Range<Int>
    ) throws -> [Sightline_V1_TrackingEvent] {
        let bytes = try Self.events(mix).request(numbers, sequence: 1)
        return try Sightline_V1_StreamEventsRequest(serializedBytes: bytes).events
    }

    /// What the server makes of a request.
    private static func admitted(_ request: [UInt8]) -> AdmittedRequest {
        let admission = Admission()
        return request.withUnsafeBytes { bytes in
            admission.admit(
                admission.read(bytes, shape: .stream), bytes: bytes.count, tenant: "default",
                receiveTime: 1_790_000_000_000_000)
        }
    }

    @Test(
        "every event is accepted, and new but for those that are repeated",
        arguments: BenchPlan.Mix.allCases)
    func hits(mix: BenchPlan.Mix) throws {
        let events = try Self.events(mix)
        var facts: Set<String> = []
        for first in stride(from: 0, to: 800, by: 50) {
            let sequence = UInt64(first) << 40 + 1
            let admitted = Self.admitted(
                try events.request(first..<first + 50, sequence: sequence))
            #expect(admitted.sequence == sequence)
            #expect(admitted.acceptedEvents.count == 50)
            facts.formUnion(admitted.acceptedEvents.map { "\($0.key) \($0.kinds)" })
        }
        #expect(facts.count == 800 - events.repeatedCount(of: 800))
        #expect(events.repeatedCount(of: 800) == (mix == .real ? 40 : 0))
    }

    @Test("what is repeated is the same event again, 40 events later")
    func repeated() throws {
        let events = try Self.events(.real)
        let sent = try Self.sent(.real, 0..<400)
        let again = sent.indices.dropFirst(40).filter { sent[$0] == sent[$0 - 40] }
        #expect(Set(sent.map(\.eventID)).count == 400 - again.count)
        for count in 0...400 {
            #expect(events.repeatedCount(of: count) == again.count { $0 < count })
        }
    }

    @Test("the digits are those of the number, in the event id and in the message id")
    func digits() throws {
        let events = try Self.sent(.opened, 0x12_3456_789a..<0x12_3456_789c)
        let digits = ["abcdef123456789a", "abcdef123456789b"]
        #expect(events.map(\.eventID) == digits)
        #expect(events.map(\.push.apns.messageID) == digits.map { "h" + $0 })
    }

    @Test("an event of the mix opened has 270 bytes")
    func size() throws {
        let bytes: [UInt8] = try #require(Self.sent(.opened, 0..<1).first).serializedBytes()
        #expect(bytes.count == 270)
    }

    @Test("each platform sends every kind, and what is opened or dismissed was received before")
    func real() throws {
        let events = try Self.sent(.real, 0..<40)
        var counts: [Sightline_V1_Platform: [String: Int]] = [:]
        var received: Set<String> = []
        for event in events {
            let kind: String
            switch event.interaction {
            case .push(let push):
                kind = "\(push.kind)"
                let isIOS = event.platform == .ios
                let id = isIOS ? push.apns.messageID : push.fcm.data.messageID
                #expect((push.kind == .received) != received.contains(id))
                received.insert(id)
            case .inApp(let message): kind = message.event.map { "\($0)" }.map(Self.name) ?? ""
            case .trackAction: kind = "action"
            case .pushSend: kind = "send"
            case nil: kind = ""
            }
            counts[event.platform, default: [:]][kind, default: 0] += 1
        }
        let mix = [
            "received": 10, "opened": 4, "dismissed": 2, "impression": 1, "click": 1,
            "dismissal": 1, "action": 1,
        ]
        #expect(counts == [.android: mix, .ios: mix])
    }

    /// A case's name alone.
    private static func name(_ text: String) -> String {
        String(text.prefix { $0.isLetter })
    }
}
