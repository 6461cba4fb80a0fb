// Records written from bytes, against those that SwiftProtobuf writes.
internal import Foundation
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules
internal import WireFormat

struct RecordWriterTests {
    private static let events: [Sightline_V1_TrackingEvent] = [
        TestEvents.full(id: 1), TestEvents.opened(id: 2), TestEvents.push(.dismissed, id: 3),
        TestEvents.push(.opened, id: 7, delivery: "not-hex"),
        TestEvents.action(.click, id: 4, product: .standard),
        TestEvents.action(.impression, id: 5, product: .classic),
        .with { event in
            event.eventID = "event-6"
            event.appID = "com.example.app"
            event.inApp.messageID = String(repeating: "é", count: 100)
            event.inApp.dismissal = .init()
        },
    ]

    @Test("any hit: the record is SwiftProtobuf's byte for byte, and as long as it was said")
    func anyHit() throws {
        var generator = BatchGenerator(seed: Dice.runSeed)
        var writer = RecordWriter()
        var (written, strange) = (0, 0)
        for _ in 0..<500 {
            try generator.batch(events: 8).forEach { _, hit in
                // The journal has no event that is none.
                guard let expected = try? Self.expected(hit) else { return strange += 1 }
                let size = writer.prepare(hit)
                #expect(size == expected.count, "seed \(Dice.runSeed)")
                var bytes: [UInt8] = []
                writer.append(hit, to: &bytes)
                #expect(bytes == expected, "seed \(Dice.runSeed)")
                written += 1
            }
            writer.endBatch()
        }
        #expect(written > 1000 && strange > 100, "\(written) written, \(strange) are no events")
    }

    @Test("a varint is as long as it is said to be", arguments: [0, 1, 127, 128, 16_383, 16_384])
    func varints(value: UInt64) {
        for value in [value, value << 40 | 1, .max - value] {
            var bytes: [UInt8] = []
            bytes.appendVarint(value)
            #expect(bytes.count == value.varintCount)
        }
    }

    @Test(
        "a hit's record has the bytes that SwiftProtobuf writes, and the event as it came",
        arguments: ["", "a=b", "a=" + String(repeating: "b", count: 254)],
        [TestHits.receiveTime, 0, 1, 1_800_000_000_000_000])
    func bytes(tracestate: String, receiveTime: Int64) throws {
        let batch = try TestHits.batch(
            Self.events, tracestate: tracestate, tenant: "a.b-c_9", at: receiveTime)
        var (count, warned) = (0, 0)
        try batch.forEach { _, hit in
            let expected = try Self.expected(hit)
            #expect(hit.recordBytes() == expected)
            count += 1
            if !hit.warnings.numbers.isEmpty { warned += 1 }
        }
        #expect(count >= 7 && warned > 0, "\(count) hits, \(warned) with warnings")
    }

    @Test(
        "D66: a record says how its event came, in itself and in the event",
        arguments: EventSource.allCases)
    func source(_ source: EventSource) throws {
        let batch = try TestHits.batch(Self.events, from: source)
        var lines = try JSONLines()
        #expect(try lines.encode(batch).isEmpty)
        let text = String(decoding: lines.bytes, as: UTF8.self)
        var count = 0
        try batch.forEach { _, hit in
            let record = try hit.record()
            #expect(record.source.rawValue == Int(source.rawValue))
            #expect(record.event.source == record.source)
            count += 1
        }
        let named = text.split(separator: "\n").filter {
            $0.contains(#","source":"EVENT_SOURCE_POSTBACK","event":{"#)
        }
        #expect(named.count == (source == .postback ? count : 0))
    }

    /// What SwiftProtobuf writes.
    private static func expected(_ hit: Hit) throws -> [UInt8] {
        let event = try EventView(hit.event)
        let head = Sightline_V1_TrackingRecord.with { record in
            record.hitID = Data(hit.id)
            record.kind = Sightline_V1_HitKind(rawValue: Int(hit.kind.rawValue)) ?? .unspecified
            record.campaignAction = hit.campaignAction
            record.deliveryID = event.deliveryID.text
            record.broadlogID = event.broadlogID.text
            record.receiveTime.seconds = hit.request.receiveTime / 1_000_000
            record.receiveTime.nanos = Int32(hit.request.receiveTime % 1_000_000) * 1000
            record.tenant = hit.request.tenant.text
            record.traceContext.traceparent = hit.request.traceparent.text
            record.traceContext.tracestate = hit.request.tracestate.text
            record.warnings = hit.warnings.numbers.compactMap {
                Sightline_V1_Warning(rawValue: Int($0))
            }
            record.source = .init(rawValue: Int(hit.source.rawValue)) ?? .unspecified
        }
        // The event is field 15.
        var bytes: [UInt8] = try head.serializedBytes()
        bytes.append(15 << 3 | 2)
        var length = hit.event.count
        while length >= 0x80 {
            bytes.append(UInt8(length & 0x7f) | 0x80)
            length >>= 7
        }
        return bytes + [UInt8(length)] + [UInt8](hit.event)
    }
}
