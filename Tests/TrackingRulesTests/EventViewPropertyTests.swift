// EventView against SwiftProtobuf, its reference: on any bytes both accept or both refuse, and they
// agree on every field that the rules read. What other parsers refuse EventView refuses alone.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules
@testable internal import WireFormat

struct EventViewPropertyTests {
    /// Messages per part; eight parts make 208,000. A part's seed is the run's plus its number.
    private static let messagesPerPart = 26_000

    @Test(
        "Any bytes: EventView and SwiftProtobuf both accept or both refuse, and agree on fields",
        arguments: 0..<8)
    func events(part: Int) {
        let seed = Dice.runSeed &+ UInt64(part)
        print("EventViewPropertyTests: SIGHTLINE_TEST_SEED=\(Dice.runSeed), part \(part)")
        var generator = EventGenerator(seed: seed)
        var (accepted, refused, failures) = (0, 0, 0)
        for index in 0..<Self.messagesPerPart where failures < 3 {
            let bytes = generator.event()
            let (isAccepted, difference) = Self.compare(bytes)
            if isAccepted { accepted += 1 } else { refused += 1 }
            guard let difference else { continue }
            failures += 1
            Issue.record(
                """
                seed \(Dice.runSeed), part \(part), message \(index): \(difference)
                \(bytes.hex)
                """)
        }
        // A generator of valid or invalid messages only would prove nothing.
        let fifth = Self.messagesPerPart / 5
        #expect(accepted >= fifth && refused >= fifth, "\(accepted) accepted, \(refused) refused")
    }

    /// Whether SwiftProtobuf accepts the bytes, and how the two readers differ.
    private static func compare(_ bytes: [UInt8]) -> (isAccepted: Bool, difference: String?) {
        var options = BinaryDecodingOptions()
        options.messageDepthLimit = WireReader.maxDepth + 1
        let proto = Result {
            try Sightline_V1_TrackingEvent(serializedBytes: bytes, options: options)
        }
        return bytes.withUnsafeBytes { bytes in
            let view = Result { () throws(WireError) in try EventView(bytes) }
            switch (proto, view) {
            case (.failure, .failure): return (false, nil)
            case (.success, .failure(.malformed)) where StrangeEncodings.mayBe(in: bytes),
                (.success, .failure(.invalidUTF8)) where StrangeEncodings.mayBe(in: bytes):
                return (false, nil)
            case (.success, .failure(let error)):
                return (true, "EventView alone refuses it: \(error)")
            case (.failure(let error), .success):
                return (false, "SwiftProtobuf alone refuses it: \(error)")
            case (.success(let proto), .success(let view)):
                let differences = EventComparison(view, proto).differences
                return (true, differences.isEmpty ? nil : differences.joined(separator: "; "))
            }
        }
    }

    @Test(
        "Depth: 94 and 95 nested groups are taken, 96 and 97 are refused",
        arguments: [94, 95, 96, 97])
    func nestedGroups(depth: Int) {
        let bytes = WireWriter.message { $0.groups(9, depth: depth) }
        #expect(Self.compare(bytes) == (depth <= 95, nil))
    }

    @Test(
        "a varint has 64 bits at most, and a map entry a tag of five bytes, and texts",
        arguments: [
            ([3 << 3] + Self.continued(9, 0x80) + [1], true),
            ([3 << 3] + Self.continued(9, 0x80) + [2], false),
            ([3 << 3] + Self.continued(9, 0xff) + [0x7f], false),
            (Self.entry(tagBytes: 5), true), (Self.entry(tagBytes: 6), false),
            (Self.entry(tagBytes: 10), false), ([4 << 3 | 2, 4, 1 << 3, 0x0a, 1, 0x6b], false),
            ([4 << 3 | 2, 4, 2 << 3, 0x0a, 1, 0x6b], false),
        ] as [([UInt8], Bool)])
    func strangeEncodings(field: [UInt8], isTaken: Bool) {
        // In an InAppInteraction: `test_message` is a varint.
        let bytes = WireWriter.message { $0.field(12, field) }
        #expect((try? Sightline_V1_TrackingEvent(serializedBytes: bytes)) != nil)
        let view = bytes.withUnsafeBytes { bytes in
            Result { () throws(WireError) in try EventView(bytes) }
        }
        #expect(((try? view.get()) != nil) == isTaken, "\(bytes.hex)")
    }

    @Test("a field that its message knows has its own wire type, on every level")
    func wireTypes() {
        self.expectOwnWireTypes(of: EventSchema.event) { $0 }
    }

    private func expectOwnWireTypes(
        of fields: [SchemaField], within message: ([UInt8]) -> [UInt8]
    ) {
        for field in fields {
            // A varint, 8 bytes, a length, a group that ends, and 4 bytes.
            for wireType in [0, 1, 2, 3, 5] as [UInt32] {
                var writer = WireWriter()
                writer.tag(field.number, wireType)
                switch wireType {
                case 1: writer.raw(Self.continued(8, 0))
                case 3: writer.tag(field.number, 4)
                case 5: writer.raw(Self.continued(4, 0))
                default: writer.varint(0)
                }
                let bytes = message(writer.bytes)
                let isTaken = bytes.withUnsafeBytes { (try? EventView($0)) != nil }
                #expect(isTaken == (wireType == field.form.wireType), "\(bytes.hex)")
            }
            guard case .message(let inner) = field.form else { continue }
            self.expectOwnWireTypes(of: inner) { bytes in
                message(WireWriter.message { $0.field(field.number, bytes) })
            }
        }
    }

    private static func continued(_ count: Int, _ byte: UInt8) -> [UInt8] {
        [UInt8](repeating: byte, count: count)
    }

    /// An entry of `app_data` whose first tag is padded to so many bytes.
    private static func entry(tagBytes: Int) -> [UInt8] {
        let tag = [1 << 3 | 2 | 0x80] + Self.continued(tagBytes - 2, 0x80) + [0]
        return WireWriter.message { $0.field(4, tag + [1, UInt8(ascii: "k")]) }
    }

    @Test(
        "Depth: an embedded message is a level, a map entry is none", arguments: [93, 94, 95, 96])
    func nestedInMessages(depth: Int) {
        let groups = WireWriter.message { $0.groups(9, depth: depth) }
        let trace = WireWriter.message { $0.field(7, groups) }
        let entry = WireWriter.message { $0.field(12, Self.message(4, groups)) }
        #expect(Self.compare(trace) == (depth <= 94, nil))
        #expect(Self.compare(entry) == (depth <= 94, nil))
    }

    private static func message(_ number: UInt64, _ body: [UInt8]) -> [UInt8] {
        WireWriter.message { $0.field(number, body) }
    }
}
