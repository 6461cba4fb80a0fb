// Bodies: CloudEvents whose data is the record, as SwiftProtobuf reads it.
internal import Foundation
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import WebhookSink

struct WebhookEventsTests {
    private func event(_ body: [UInt8]) throws -> [String: Any] {
        let parsed = try JSONSerialization.jsonObject(with: Data(body))
        return try #require((parsed as? [[String: Any]])?.first)
    }

    @Test("an event has the hit's id, tenant, kind, delivery, time and trace")
    func attributes() throws {
        let batch = try TestHits.batch(
            [TestEvents.full(id: 1)], tracestate: "a=1,b=2", tenant: "shop ü/1")
        var events = try WebhookEvents(source: "/sightline")
        let rejected = try events.encode(batch)
        #expect(rejected == [:])
        let event = try self.event(events.body(of: 0..<1))
        let record = try #require(try batch.records.first)
        #expect(
            event.compactMapValues { $0 as? String } == [
                "specversion": "1.0", "id": record.hitID.hex,
                "source": "/sightline/shop%20%C3%BC%2F1",
                "type": "sightline.v1.hit.impression", "subject": "56c4",
                "time": "2027-01-15T08:00:00.123456Z", "datacontenttype": "application/json",
                "traceparent": record.traceContext.traceparent, "tracestate": "a=1,b=2",
            ])
        #expect(event.keys.count == 10)
    }

    @Test("what is empty is left out")
    func empty() throws {
        let batch = try TestHits.batch([TestEvents.full(id: 1)], tenant: "")
        var events = try WebhookEvents(source: "/s")
        _ = try events.encode(batch)
        let event = try self.event(events.body(of: 0..<1))
        #expect(event["source"] as? String == "/s/")
        #expect(event["tracestate"] == nil)
    }

    @Test("data is SwiftProtobuf's text byte for byte, for events of every form")
    func data() throws {
        print("WebhookEventsTests: SIGHTLINE_TEST_SEED=\(Dice.runSeed)")
        var generator = BatchGenerator(seed: Dice.runSeed)
        var events = try WebhookEvents(source: "/s")
        var options = JSONEncodingOptions()
        options.useDeterministicOrdering = true
        var (written, refused) = (0, 0)
        for _ in 0..<200 {
            let batch = generator.batch(events: 8)
            let rejected = try events.encode(batch)
            refused += rejected.count
            var expected: [Int: [UInt8]] = [:]
            try batch.forEach { position, hit in
                expected[position] = try? hit.record().jsonUTF8Bytes(options: options)
            }
            let all = events.events
            #expect(Set(expected.keys) == Set(all.map(\.position)))
            for (index, event) in all.enumerated() {
                let body = events.body(of: index..<(index + 1))
                let wanted =
                    [UInt8](#","datacontenttype":"application/json","data":"#.utf8)
                    + (expected[event.position] ?? []) + [UInt8]("}]".utf8)
                #expect(body.suffix(wanted.count) == wanted[...])
                #expect(throws: Never.self) { try self.event(body) }
                written += 1
            }
        }
        #expect(written > 800 && refused > 100, "\(written) written, \(refused) refused")
    }

    @Test("a part holds as many hits and bytes as it may, and one more is the next one's")
    func parts() throws {
        var events = try WebhookEvents(source: "/s")
        _ = try events.encode(try TestHits.batch((1...9).map { TestEvents.full(id: $0) }))
        let all = events.events[...]
        let three = WebhookPart.bytes(of: all[..<3])
        let (body, none) = (events.body(of: 0..<3), events.body(of: 0..<0))
        #expect(body.count == three)
        #expect(none == [UInt8]("[]".utf8))
        for (hits, bytes, end) in [
            (9, Int.max, 9), (3, .max, 3), (9, three, 3), (9, three - 1, 2), (2, three, 2),
            (9, 1, 1),
            (0, .max, 1),
        ] {
            let part = WebhookPart.first(of: all, hits: hits, bytes: bytes)
            #expect(part == 0..<end, "\(hits) hits, \(bytes) bytes")
        }
        #expect(WebhookPart.first(of: all[7...], hits: 5, bytes: .max) == 7..<9)
    }
}
