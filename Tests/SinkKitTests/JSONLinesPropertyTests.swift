// The lines of the jsonl and stdout sinks against SwiftProtobuf, their reference: the same text for
// any batch, and the same hits refused.

internal import Foundation
internal import SightlineProtos
@testable internal import SinkKit
internal import SinkTestSupport
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
