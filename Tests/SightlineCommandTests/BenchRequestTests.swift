// The requests of a load: new hits every time, and of the size that was asked for.
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing
internal import TrackingRules
@testable internal import sightline

struct BenchRequestTests {
    private static let now: Int64 = 1_790_000_000

    /// What the server makes of a request.
    private static func admitted(_ request: BenchRequest) -> AdmittedRequest {
        let admission = Admission()
        return request.message.withUnsafeBytes { bytes in
            admission.admit(
                admission.read(bytes, shape: .stream), bytes: bytes.count, tenant: "default",
                receiveTime: Self.now * 1_000_000)
        }
    }

    @Test(
        "a request that is numbered again holds new hits, and all of them are accepted",
        arguments: BenchPlan.Mix.allCases)
    func distinctHits(mix: BenchPlan.Mix) throws {
        var plan = BenchPlan()
        plan.mix = mix
        var request = try BenchRequest(plan, count: 40, seconds: Self.now)
        let ids = BenchIDs(run: 0xabcdef)
        var keys: Set<HitKey> = []
        for sequence in [1, 127, 128, 1 << 20, UInt64.max] {
            request.number(sequence: sequence, firstID: ids.take(40))
            let admitted = Self.admitted(request)
            #expect(admitted.sequence == sequence)
            #expect(admitted.claims.count == 40)
            #expect(admitted.claims.allSatisfy { $0.warnings.isEmpty })
            keys.formUnion(admitted.claims.map(\.key))
        }
        #expect(keys.count == 5 * 40)
    }

    @Test(
        "the digits are those of the number, in the event id and in the message id",
        arguments: [0, 0x0123_4567_89ab_cdef, UInt64.max, 0xa000_0000_0000_0009])
    func digits(number: UInt64) throws {
        var request = try BenchRequest(BenchPlan(), count: 1, seconds: Self.now)
        request.number(sequence: 1, firstID: number)
        let message = try Sightline_V1_StreamEventsRequest(
            serializedBytes: Array(request.message))
        let plain = String(number, radix: 16)
        let digits = String(repeating: "0", count: 16 - plain.count) + plain
        #expect(message.events.map(\.eventID) == [digits])
        #expect(message.events.map(\.push.apns.messageID) == ["h" + digits])
    }

    @Test("an event has exactly the bytes asked for", arguments: [240, 241, 270, 303, 304, 305])
    func size(bytes: Int) throws {
        for kind in [BenchEvents.Kind.opened, .received, .dismissed] {
            #expect(try BenchEvents.encoded(kind, size: bytes, seconds: Self.now).count == bytes)
        }
    }

    @Test("every length from the shortest to the longest event can be made")
    func allSizes() throws {
        let edges = Array(240...800) + Array(16_500 - 250...16_384)
        for bytes in edges {
            let event = try BenchEvents.encoded(.opened, size: bytes, seconds: Self.now)
            #expect(event.count == bytes)
        }
    }

    @Test("the longest events are accepted too", arguments: BenchPlan.Mix.allCases)
    func longest(mix: BenchPlan.Mix) throws {
        var plan = BenchPlan()
        plan.mix = mix
        plan.eventBytes = 16_384
        var request = try BenchRequest(plan, count: 20, seconds: Self.now)
        request.number(sequence: 1, firstID: 1)
        #expect(Self.admitted(request).claims.count == 20)
    }

    @Test("of 20 events in the real mix 12 are impressions, 5 opened, 2 dismissed, 1 an action")
    func mix() {
        let kinds = (0..<20).map { BenchEvents.kind(at: $0, of: .real) }
        let counts = Dictionary(kinds.map { ($0, 1) }, uniquingKeysWith: +)
        #expect(counts == [.received: 12, .opened: 5, .dismissed: 2, .trackAction: 1])
    }

    @Test("no number is given twice")
    func numbers() {
        let ids = BenchIDs(run: 1)
        #expect(ids.take(3) == 1 << 40)
        #expect(ids.take(1) == 1 << 40 + 3)
        #expect(ids.take(1) == 1 << 40 + 4)
    }
}
