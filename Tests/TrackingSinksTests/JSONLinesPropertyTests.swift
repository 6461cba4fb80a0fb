// The lines of the jsonl and stdout sinks against SwiftProtobuf, their reference: the same text for
// any batch, and the same hits refused.

internal import Foundation
internal import SightlineProtos
@testable internal import SinkKit
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules
@testable internal import W3CTrace
@testable internal import WireFormat

struct JSONLinesPropertyTests {
    /// Events in all parts: SIGHTLINE_TEST_EVENTS, or as many as take some seconds.
    private static let events =
        ProcessInfo.processInfo.environment["SIGHTLINE_TEST_EVENTS"].flatMap { Int($0) } ?? 4000
    private static let parts = 4
    private static let eventsPerBatch = 8

    @Test(
        "any events: the lines are SwiftProtobuf's byte for byte, and the refusals too",
        arguments: 0..<Self.parts)
    func lines(part: Int) throws {
        print("JSONLinesPropertyTests: SIGHTLINE_TEST_SEED=\(Dice.runSeed), part \(part)")
        var generator = BatchGenerator(seed: Dice.runSeed &+ UInt64(part))
        var lines = try JSONLines()
        var (written, refused, failures) = (0, 0, 0)
        let batches = Self.events / Self.parts / Self.eventsPerBatch
        for index in 0..<batches where failures < 3 {
            let batch = generator.batch(events: Self.eventsPerBatch)
            let rejected = try lines.encode(batch)
            let expected = try Reference(batch)
            let found = [UInt8](lines.bytes).split(separator: UInt8(ascii: "\n")).map {
                [UInt8]($0)
            }
            written += found.count
            refused += rejected.count
            guard found != expected.lines || rejected != expected.rejected else { continue }
            failures += 1
            let pair = zip(found, expected.lines).first { $0 != $1 }
            Issue.record(
                """
                seed \(Dice.runSeed), part \(part), batch \(index)
                found:    \(String(decoding: pair?.0 ?? [], as: UTF8.self))
                expected: \(String(decoding: pair?.1 ?? [], as: UTF8.self))
                refused:  \(rejected), expected \(expected.rejected)
                """)
        }
        // A generator of valid or invalid events only would prove nothing.
        #expect(
            written > batches * 4 && refused > batches, "\(written) written, \(refused) refused")
    }

    @Test("an event as SwiftProtobuf writes it is written without SwiftProtobuf")
    func usualEvents() throws {
        print("JSONLinesPropertyTests: SIGHTLINE_TEST_SEED=\(Dice.runSeed)")
        var generator = EventGenerator(seed: Dice.runSeed)
        let protos = ProtoDescriptors(try DescriptorSet.files())
        var writer = ProtoJSONWriter(protos.schema(of: ".sightline.v1.TrackingEvent"))
        for _ in 0..<1000 {
            let bytes = generator.protoEvent()
            let event = try Sightline_V1_TrackingEvent(serializedBytes: bytes)
            writer.text.truncate(to: 0)
            let isWritten = bytes.withUnsafeBytes { writer.append($0, as: 0) }
            // It refuses times outside of Timestamp's range.
            let expected: [UInt8]? = try? event.jsonUTF8Bytes(options: Reference.options)
            let found = [UInt8](writer.text.bytes)
            #expect(isWritten == (expected != nil), "seed \(Dice.runSeed): \(bytes.hex)")
            #expect(found == expected ?? [], "seed \(Dice.runSeed): \(bytes.hex)")
        }
    }

    @Test("no field of an event is left to SwiftProtobuf because of its type")
    func knownFields() throws {
        let protos = ProtoDescriptors(try DescriptorSet.files())
        let schema = protos.schema(of: ".sightline.v1.TrackingEvent")
        let other = schema.fields.filter { $0.kind == .other }.map { field in
            let end = field.lead.start + field.lead.count
            return String(decoding: schema.texts[field.lead.start..<end], as: UTF8.self)
        }
        #expect(other == [])
        #expect(schema.fields.count { $0.kind != .unknown } > 60)
    }
}

/// What SwiftProtobuf makes of a batch.
private struct Reference {
    private(set) var lines: [[UInt8]] = []
    private(set) var rejected: [Int: String] = [:]

    /// The order of a map's keys is the same in every run.
    static let options: JSONEncodingOptions = {
        var options = JSONEncodingOptions()
        options.useDeterministicOrdering = true
        return options
    }()

    init(_ batch: HitBatch) throws {
        try batch.forEach { position, hit in
            do {
                self.lines.append(try hit.record().jsonUTF8Bytes(options: Self.options))
            } catch {
                self.rejected[position] = "no JSON form: \(error)"
            }
        }
    }
}

/// Makes batches that the journal can hold, also of what admission would refuse: an event that is
/// none has an index that says nothing.
struct BatchGenerator {
    private var events: EventGenerator

    init(seed: UInt64) { self.events = EventGenerator(seed: seed) }

    /// A batch of two requests.
    mutating func batch(events count: Int) -> HitBatch {
        let payload = self.request(events: count / 2) + self.request(events: count - count / 2)
        return HitBatch(journal: "j", sequence: 1, payload: payload)
    }

    private mutating func request(events count: Int) -> [UInt8] {
        var entries: [UInt8] = []
        for _ in 0..<count {
            let event =
                self.events.dice.chance(60) ? self.events.orderlyEvent() : self.events.event()
            event.withUnsafeBytes { self.append($0, to: &entries) }
        }
        let tenant = String(decoding: self.events.string(), as: UTF8.self)
        let tracestate = String(decoding: self.events.string(), as: UTF8.self)
        let random = TraceContext.random(isSampled: true, using: &self.events.dice)
        let trace = TraceContext(
            traceID: random.traceID, spanID: random.spanID, isSampled: true,
            tracestate: tracestate)
        var header = HitBlock.header(
            entryCount: count, entriesBytes: entries.count, receiveTime: self.receiveTime(),
            tenant: self.events.dice.chance(90)
                ? tenant : tenant + String(repeating: "ü", count: 128),
            trace: trace)
        if self.events.dice.chance(5) {
            // No traceparent: 0 bytes instead of 55, which stand between the other two.
            let start = HitBlock.headerBytes + Int(header[16])
            header[17] = 0
            header.removeSubrange(start..<start + TraceContext.traceparentBytes)
        }
        return header + entries
    }

    private mutating func append(_ event: Bytes, to entries: inout [UInt8]) {
        let kinds = (0...self.events.dice.below(3)).reduce(into: UInt16(0)) { bits, _ in
            bits |= 1 << UInt16(self.events.dice.pick(HitKind.allCases).rawValue)
        }
        let warnings =
            self.events.dice.chance(50)
            ? 0 : UInt16.random(in: 0...(.max), using: &self.events.dice)
        let key = HitKey(high: self.events.dice.next(), low: self.events.dice.next())
        let product = self.events.dice.pick([Product.standard, .classic, .firebase])
        let index =
            (try? JournalEvent(parsing: event, key: key, kinds: [], warnings: []))?.index
            ?? EventIndex()
        entries.appendEntry(
            key: key, facts: HitBlock.facts(product, nil), kinds: HitKinds(rawValue: kinds),
            warnings: Warnings(rawValue: warnings), index: index, event: event)
    }

    /// Mostly today's time; also the bounds of Timestamp, and beyond them.
    private mutating func receiveTime() -> Int64 {
        guard self.events.dice.chance(10) else {
            return TestHits.receiveTime + Int64(self.events.dice.below(1_000_000))
        }
        return self.events.dice.pick([
            0, -1, -1_000_000, 253_402_300_799_999_999, 253_402_300_800_000_000,
            -62_135_596_800_000_000, -62_135_596_801_000_000, .max, .min, 1_000_000, 1_001_000,
        ])
    }
}
