// A request as a whole: its limits, its events side by side, and what is told of each.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules
internal import W3CTrace

struct AdmissionTests {
    @Test("D14, D22, D39: one bad event harms no other, and each is told of in its place")
    func mixed() throws {
        let events = try [
            TestEvent.fcm(.opened) { $0.eventID = "zero" },
            .fcm(.opened) {
                $0.eventID = "one"
                $0.push.fcm.data.acsDeliveryTracking = "off"
            },
            .apns(.unspecified) { $0.eventID = "two" },
            .inApp { $0.eventID = "four" },
        ].map { try $0.bytes() }
        let bytes = WireWriter.message {
            $0.field(1, varint: 42)
            for event in events[..<3] { $0.field(2, event) }
            $0.field(2, [0x0a, 0xff])
            $0.field(2, events[3])
        }
        let admitted = AdmittedRequest.of(bytes: bytes)
        #expect(admitted.sequence == 42 && admitted.eventCount == 5 && admitted.violation == nil)
        #expect(admitted.refusals.map(\.index) == [1, 2, 3])
        #expect(
            admitted.refusals.map(\.judgement.line)
                == [
                    "suppressed_flag_off", "rejected: push.kind required",
                    "rejected: event malformed",
                ])
        #expect(admitted.acceptedEvents.map(\.index) == [0, 4])
        #expect(admitted.tally.accepted == 2 && admitted.tally.rejected == 2)
        #expect(admitted.tally.suppressed == 1)
        // D51: the client's own id comes back; what a broken event's was cannot be told.
        #expect(admitted.refusals.map(\.eventID) == ["one", "two", ""])
        #expect(admitted.acceptedEvents.map { admitted.eventID(of: $0) } == ["zero", "four"])
    }

    @Test(
        "D51: an event id over its limit comes back cut to the limit, before a character",
        arguments: [("e", 64), ("ü", 32), ("日", 21), ("👍", 16)])
    func longEventID(character: String, kept: Int) throws {
        let event = TestEvent.fcm(.opened) { $0.eventID = String(repeating: character, count: 300) }
        let refusal = try #require(try AdmittedRequest.of([event]).refusals.first)
        #expect(refusal.judgement.line == "rejected: event_id too_large")
        #expect(refusal.eventID == String(repeating: character, count: kept))
    }

    @Test("D42: a request has 512 KiB at most, whatever is in it")
    func requestBytes() throws {
        let event = try TestEvent.fcm(.opened).bytes()
        for (size, isTaken) in [(512 * 1024, true), (512 * 1024 + 1, false)] {
            let events = WireWriter.message { $0.field(2, event) }
            // An unknown field fills the rest: 1 byte of tag, 3 of length, and zeros.
            let filler = [UInt8](repeating: 0, count: size - events.count - 4)
            let bytes = events + WireWriter.message { $0.field(9, filler) }
            try #require(bytes.count == size)
            let admitted = AdmittedRequest.of(bytes: bytes)
            #expect((admitted.violation == nil) == isTaken)
            #expect(admitted.acceptedEvents.count == (isTaken ? 1 : 0))
            guard !isTaken else { continue }
            #expect(admitted.violation?.field == "request")
            #expect(admitted.violation?.code == .tooLarge)
        }
    }

    @Test("D42: a request has 2,000 events at most", arguments: [(2000, true), (2001, false)])
    func requestEvents(count: Int, isTaken: Bool) throws {
        let event = try TestEvent.action(.click).bytes()
        let bytes = WireWriter.message {
            $0.field(1, varint: 7)
            for _ in 0..<count { $0.field(2, event) }
        }
        let admitted = AdmittedRequest.of(bytes: bytes)
        #expect(admitted.sequence == 7)
        #expect(admitted.acceptedEvents.count == (isTaken ? 2000 : 0))
        #expect(admitted.violation?.field == (isTaken ? nil : "events"))
        #expect(admitted.violation?.code == (isTaken ? nil : .tooLarge))
    }

    @Test("D42: an event over 16 KiB is refused by itself")
    func largeEvent() throws {
        let small = try TestEvent.fcm(.opened).bytes()
        let filler = [UInt8](repeating: 0, count: 16 * 1024)
        let large = small + WireWriter.message { $0.field(99, filler) }
        let bytes = WireWriter.message {
            $0.field(2, small)
            $0.field(2, large)
            $0.field(2, small)
        }
        let admitted = AdmittedRequest.of(bytes: bytes)
        #expect(admitted.acceptedEvents.map(\.index) == [0, 2])
        #expect(admitted.refusals.map(\.judgement.line) == ["rejected: event too_large"])
    }

    @Test(
        "A request that is no protobuf has a violation of its own, and the sequence that it had",
        arguments: ["0807ff", "080712", "08071205", "0807000000", "08071a0108"])
    func malformed(hex: String) throws {
        let admitted = AdmittedRequest.of(bytes: try #require([UInt8](hex: hex)))
        #expect(admitted.violation?.field == "request")
        #expect(admitted.violation?.code == .malformed)
        #expect(
            admitted.sequence == 7 && admitted.acceptedEvents.isEmpty && admitted.eventCount == 0)
    }

    @Test("D53: the sequence is read as it was sent", arguments: [0, 1, UInt64.max])
    func sequence(sequence: UInt64) {
        let bytes = WireWriter.message { $0.field(1, varint: sequence) }
        let admitted = AdmittedRequest.of(bytes: bytes)
        #expect(admitted.sequence == sequence && admitted.violation == nil)
    }

    @Test("D17: the tenant is part of a accepted's key")
    func tenants() throws {
        let one = try AdmittedRequest.of([.fcm(.opened)], tenant: "one")
        let two = try AdmittedRequest.of([.fcm(.opened)], tenant: "two")
        #expect(
            try #require(one.acceptedEvents.first).key != #require(two.acceptedEvents.first).key)
    }

    @Test("The first valid trace of the accepted events is the request's")
    func eventTrace() throws {
        let span = "7bad6b7169203331"
        let header = { (trace: String) in "00-\(trace)-\(span)-01" }
        let traces = [
            "", "broken", header("0af7651916cd43dd8448eb211c80319c"),
            header("1af7651916cd43dd8448eb211c80319c"),
        ]
        let events = traces.map { trace in
            TestEvent.fcm(.opened) { $0.traceContext.traceparent = trace }
        }
        let admitted = try AdmittedRequest.of(events)
        #expect(admitted.acceptedEvents.count == 4, "a malformed header harms no event")
        #expect(admitted.trace?.traceparent == traces[2])
    }

    @Test("Nothing in a request that is broken anywhere traps", arguments: 0..<4)
    func anyBytes(part: Int) {
        var generator = EventGenerator(seed: Dice.runSeed &+ UInt64(part))
        for _ in 0..<2_000 {
            let events = [generator.event(), generator.event()]
            let request = WireWriter.message { for event in events { $0.field(2, event) } }
            let admitted = AdmittedRequest.of(bytes: generator.mutated(request))
            let told = admitted.acceptedEvents.count + admitted.refusals.count
            #expect(admitted.violation == nil ? told == admitted.eventCount : told == 0)
        }
    }
}
