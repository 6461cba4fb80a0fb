// RequestReader and EventView together against SwiftProtobuf's decoder of the whole request.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules
@testable internal import WireFormat

struct RequestReaderPropertyTests {
    private static let requestsPerPart = 8_000

    @Test(
        "Any bytes: a request is taken or refused as SwiftProtobuf does, with the same events",
        arguments: 0..<4)
    func requests(part: Int) {
        var generator = EventGenerator(seed: Dice.runSeed ^ UInt64(part + 1) << 32)
        print("RequestReaderPropertyTests: SIGHTLINE_TEST_SEED=\(Dice.runSeed), part \(part)")
        var (accepted, refused, failures) = (0, 0, 0)
        for index in 0..<Self.requestsPerPart where failures < 3 {
            let bytes = Self.request(&generator)
            let (isAccepted, difference) = Self.compare(bytes)
            if isAccepted { accepted += 1 } else { refused += 1 }
            guard let difference else { continue }
            failures += 1
            Issue.record(
                """
                seed \(Dice.runSeed), part \(part), request \(index): \(difference)
                \(bytes.hex)
                """)
        }
        let fifth = Self.requestsPerPart / 5
        #expect(accepted >= fifth && refused >= fifth, "\(accepted) accepted, \(refused) refused")
    }

    /// A request of few events, each of which may be odd, broken or mutated, as the request may.
    private static func request(_ generator: inout EventGenerator) -> [UInt8] {
        var writer = WireWriter()
        for _ in 0..<generator.dice.below(6) {
            switch generator.dice.below(12) {
            case 0, 1: writer.field(1, varint: generator.number())
            case 2:
                writer.field(3, WireWriter.message { $0.field(1, varint: generator.number()) })
            case 3: generator.unknown(into: &writer)
            case 4: generator.odd(EventSchema.event, into: &writer)
            case 5 where generator.dice.chance(30): generator.broken(into: &writer)
            // The limit on depth is met in the event of a request, not in the event by itself.
            case 6: writer.field(2, WireWriter.message { $0.groups(9, depth: 93) })
            case 7 where generator.dice.chance(30):
                writer.field(2, WireWriter.message { $0.groups(9, depth: 94) })
                writer.field(2, WireWriter.message { $0.groups(9, depth: 95) })
            default: writer.field(2, generator.event())
            }
        }
        return generator.dice.chance(10) ? generator.mutated(writer.bytes) : writer.bytes
    }

    private static func compare(_ bytes: [UInt8]) -> (isAccepted: Bool, difference: String?) {
        var options = BinaryDecodingOptions()
        options.messageDepthLimit = WireReader.maxDepth + 1
        // nil: refused
        let proto = try? Sightline_V1_StreamEventsRequest(serializedBytes: bytes, options: options)
        return bytes.withUnsafeBytes { bytes in
            let reader = RequestReader(bytes, shape: .stream, maxEvents: 2000)
            let views = reader.events.map { event in
                Result { () throws(WireError) in
                    try EventView(event, remainingDepth: WireReader.maxDepth - 1)
                }
            }
            let isTaken = reader.error == nil && views.allSatisfy { (try? $0.get()) != nil }
            guard let proto else {
                return (false, isTaken ? "SwiftProtobuf alone refuses it" : nil)
            }
            if !isTaken, StrangeEncodings.mayBe(in: bytes) { return (false, nil) }
            guard isTaken else {
                return (true, "SwiftProtobuf alone takes it: \(String(describing: reader.error))")
            }
            let isSame =
                reader.sequence == proto.sequence && reader.events.count == proto.events.count
                && reader.reportsAccepted == proto.options.reportAccepted
                && zip(views, proto.events).allSatisfy { view, event in
                    (try? view.get().eventID.elementsEqual(event.eventID.utf8)) ?? false
                }
            return (true, isSame ? nil : "sequence, options or events differ")
        }
    }

    @Test("A unary request keeps its events in field 1, and has no sequence")
    func unary() {
        let event = WireWriter.message { $0.field(1, "e") }
        let bytes = WireWriter.message {
            $0.field(1, event)
            $0.field(2, event)
            $0.field(1, event)
        }
        bytes.withUnsafeBytes { bytes in
            let reader = RequestReader(bytes, shape: .unary, maxEvents: 2000)
            #expect(reader.error == nil && reader.sequence == 0 && !reader.reportsAccepted)
            #expect(reader.events.count == 2)
        }
    }

    @Test(
        "A reader keeps the events within the limit, counts all, and reads what follows them",
        arguments: [0, 1, 4, 5, 6])
    func eventsBeyondTheLimit(limit: Int) {
        let bytes = WireWriter.message {
            for _ in 0..<5 { $0.field(2, "") }
            $0.field(1, varint: 7)
        }
        bytes.withUnsafeBytes { bytes in
            let reader = RequestReader(bytes, shape: .stream, maxEvents: limit)
            #expect(reader.events.count == min(5, limit) && reader.eventCount == 5)
            #expect(reader.sequence == 7)
        }
    }
}
