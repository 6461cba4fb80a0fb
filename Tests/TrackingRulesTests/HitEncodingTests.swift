// The journal's encoding: forEachHit decodes what Admission encodes, and damage throws instead of
// trapping.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules
@testable internal import W3CTrace
internal import WireFormat

struct HitEncodingTests {
    /// A hit as it was read, copied out of the payload.
    private struct ReadHit: Equatable {
        let id: [UInt8]
        let kind: HitKind
        let product: Product
        let action: UInt32
        let warnings: Warnings
        let receiveTime: Int64
        let tenant: String
        let traceparent: String
        let tracestate: String
        let event: [UInt8]

        init(_ hit: Hit) {
            self.id = hit.id
            self.kind = hit.kind
            self.product = hit.product
            self.action = hit.campaignAction
            self.warnings = hit.warnings
            self.receiveTime = hit.request.receiveTime
            self.tenant = hit.request.tenant.text
            self.traceparent = hit.request.traceparent.text
            self.tracestate = hit.request.tracestate.text
            self.event = [UInt8](hit.event)
        }
    }

    private static let trace = TraceContext(
        traceID: TraceContext.TraceID(high: 1, low: 2), spanID: 3, isSampled: true,
        tracestate: "vendor=1")

    private static func hits(in payload: [UInt8]) throws -> [ReadHit] {
        var hits: [ReadHit] = []
        try payload.withUnsafeBytes { payload in
            try HitEncoding.forEachHit(in: payload) { hits.append(ReadHit($0)) }
        }
        return hits
    }

    private static func block(_ admitted: AdmittedRequest, tenant: String) -> [UInt8] {
        HitEncoding.header(
            entryCount: admitted.acceptedEvents.count, entriesBytes: admitted.entries.count,
            receiveTime: TestEvent.now, tenant: tenant, trace: Self.trace) + admitted.entries
    }

    /// Four accepted events and two refused ones; the first has a field that no schema knows.
    private static func request() throws -> (admitted: AdmittedRequest, events: [[UInt8]]) {
        let events = try [
            TestEvent.apns(.opened) { $0.push.apns.clearAcsDeliveryTracking() },
            .fcm(.opened) { $0.consent = .optedOut },
            .fcm(.received) { $0.push.product = .classic },
            .action(.close) { $0.trackAction.deliveryID = "not-hex" },
            .fcm(.unspecified),
            .inApp { $0.inApp.appData = ["key": "välue"] },
        ].map { try $0.bytes() }
        let unknown = WireWriter.message {
            $0.field(4000, "kept")
            $0.groups(77, depth: 3)
        }
        let sent = [events[0] + unknown] + events.dropFirst()
        let bytes = WireWriter.message { for event in sent { $0.field(2, event) } }
        return (AdmittedRequest.of(bytes: bytes, tenant: "ténant"), sent)
    }

    @Test("D14, D29: hits are read as they were written: kinds in order, warnings, product, bytes")
    func roundTrip() throws {
        let (admitted, events) = try Self.request()
        #expect(admitted.acceptedEvents.map(\.index) == [0, 2, 3, 5])
        let payload = Self.block(admitted, tenant: "ténant")
        let hits = try Self.hits(in: payload)
        #expect(hits.map(\.kind) == [.click, .open, .impression, .close, .inAppImpression])
        #expect(hits.map(\.action) == [2, 1, 1, 5, 0])
        #expect(hits.map(\.product) == [.standard, .standard, .classic, .standard, .firebase])
        #expect(
            hits.map(\.warnings) == [.flagAssumedOn, .flagAssumedOn, [], .idNotHex, []])
        #expect(hits.map(\.event) == [0, 0, 2, 3, 5].map { events[$0] })
        let keys = admitted.acceptedEvents.map(\.key)
        #expect(hits.map(\.id) == zip([0, 0, 1, 2, 3], hits).map { keys[$0].hitID($1.kind) })
        for hit in hits {
            #expect(hit.receiveTime == TestEvent.now && hit.tenant == "ténant")
            #expect(hit.traceparent == Self.trace.traceparent && hit.tracestate == "vendor=1")
        }
    }

    @Test("D47: a sealed accepted gives the hits that it was granted, and its warnings")
    func seal() throws {
        let (admitted, _) = try Self.request()
        for index in admitted.acceptedEvents.indices {
            let known: Marks = index == 0 ? [Marks(kinds: HitKinds(.click)), .dismissed] : []
            admitted.acceptedEvents[index].settle(known: known, notification: known)
            admitted.seal(admitted.acceptedEvents[index])
        }
        let hits = try Self.hits(in: Self.block(admitted, tenant: "t"))
        #expect(hits.map(\.kind) == [.open, .impression, .close, .inAppImpression])
        #expect(hits.first?.warnings == [.flagAssumedOn, .openAfterDismiss])
        #expect(
            admitted.acceptedEvents.map { admitted.eventID(of: $0) } == ["e1", "e1", "e1", "e1"])
    }

    @Test("Blocks follow each other, and an empty payload has no hits")
    func blocks() throws {
        let (admitted, _) = try Self.request()
        let one = Self.block(admitted, tenant: "one")
        let two = Self.block(admitted, tenant: "two")
        let hits = try Self.hits(in: one + two)
        #expect(
            hits.map(\.tenant) == Array(repeating: "one", count: 5)
                + .init(repeating: "two", count: 5))
        #expect(try Self.hits(in: []) == [])
        let empty = HitEncoding.header(
            entryCount: 0, entriesBytes: 0, receiveTime: 0, tenant: "", trace: Self.trace)
        #expect(try Self.hits(in: empty + one).count == 5)
    }

    @Test("a request whose span was not begun loses no hit: its block has no traceparent")
    func noTrace() throws {
        let (admitted, _) = try Self.request()
        admitted.trace = nil
        var payload: [UInt8] = []
        #expect(admitted.appendSealed(to: &payload).events == admitted.acceptedEvents.count)
        #expect(payload.count == admitted.journalBytes)
        let block = Self.block(admitted, tenant: admitted.ledger.tenant)
        #expect(try Self.hits(in: payload).count == (try Self.hits(in: block).count))
    }

    @Test("The hits of a payload are counted without reading them, up to where it is damaged")
    func hitCount() throws {
        func count(_ payload: [UInt8]) -> Int {
            payload.withUnsafeBytes { HitEncoding.hitCount(in: $0) }
        }
        let (admitted, _) = try Self.request()
        let payload = Self.block(admitted, tenant: "one") + Self.block(admitted, tenant: "two")
        #expect(count([]) == 0)
        #expect(count(payload) == 10)
        let counts = payload.indices.map { count(Array(payload.prefix($0))) }
        // Nothing is delivered of a truncated block.
        #expect(counts == counts.sorted() && counts.last == 5)
        // Lengths beyond the end are not followed.
        #expect(count([UInt8](repeating: 0xff, count: 100)) == 0)
    }

    @Test("The hits that are wanted are appended as they are, and no others")
    func wanted() throws {
        let (admitted, _) = try Self.request()
        let payload = Self.block(admitted, tenant: "one") + Self.block(admitted, tenant: "two")
        let kinds: HitKinds = [HitKinds(.impression), HitKinds(.open)]
        var rest: [UInt8] = []
        let appended = try payload.withUnsafeBytes { payload in
            try HitEncoding.append(
                to: &rest, from: payload,
                wanted: { _, request in request.tenant.text == "two" ? kinds : [] })
        }
        #expect(appended.events == 2 && appended.hits == 2)
        let wanted = try Self.hits(in: payload).filter {
            $0.tenant == "two" && kinds.contains(HitKinds($0.kind))
        }
        #expect(try Self.hits(in: rest) == wanted)
    }

    @Test("Long headers are cut to what the form holds")
    func longHeaders() throws {
        let (admitted, _) = try Self.request()
        let payload = Self.block(admitted, tenant: String(repeating: "t", count: 300))
        #expect(try Self.hits(in: payload).first?.tenant.utf8.count == 255)
    }

    @Test("A payload cut at any byte is damaged")
    func cut() throws {
        let payload = Self.block(try Self.request().admitted, tenant: "t")
        for length in 1..<payload.count {
            #expect(throws: DamagedPayload.self) {
                try Self.hits(in: Array(payload.prefix(length)))
            }
        }
    }

    @Test("A payload with any bits flipped is read or damaged, and never traps")
    func flipped() throws {
        let payload = Self.block(try Self.request().admitted, tenant: "t")
        var dice = Dice(seed: Dice.runSeed)
        print("HitEncodingTests: SIGHTLINE_TEST_SEED=\(Dice.runSeed)")
        var damaged = 0
        for _ in 0..<20_000 {
            var bytes = payload
            for _ in 0...dice.below(3) {
                // Half of the flips hit the first header and entry, which contain the lengths.
                let place = dice.below(dice.chance(50) ? 120 : bytes.count)
                bytes[place] ^= 1 << UInt8(dice.below(8))
            }
            do {
                _ = try Self.hits(in: bytes)
            } catch let error as DamagedPayload {
                #expect((0...bytes.count).contains(error.offset))
                damaged += 1
            }
        }
        #expect(damaged > 1000)
    }
}
