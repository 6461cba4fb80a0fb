// The transcoder against SwiftProtobuf, its reference.
internal import EventJSON
internal import Foundation
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

struct EventTranscoderPropertyTests {
    private static let events = 3000

    @Test(
        "any event in SwiftProtobuf's JSON, under either of its fields' names, is the same event",
        arguments: [false, true])
    func anyEvent(preservesNames: Bool) throws {
        print("EventTranscoderPropertyTests: SIGHTLINE_TEST_SEED=\(Dice.runSeed)")
        var generator = EventGenerator(seed: Dice.runSeed)
        var options = JSONEncodingOptions()
        options.preserveProtoFieldNames = preservesNames
        var compared = 0
        for _ in 0..<Self.events {
            let event = try Sightline_V1_TrackingEvent(serializedBytes: generator.protoEvent())
            // It refuses times outside of Timestamp's range.
            guard let json = try? event.jsonUTF8Bytes(options: options) as [UInt8] else { continue }
            compared += 1
            let found = Transcoded(json)
            #expect(found.isWhole, "\(String(decoding: json, as: UTF8.self)): \(found)")
            #expect(found.event == event, "seed \(Dice.runSeed): \(json.hex)")
            let count = (try event.serializedBytes() as [UInt8]).count
            #expect(found.bytes.count == count, "seed \(Dice.runSeed): \(json.hex)")
        }
        #expect(compared > Self.events / 2)
    }

    @Test("the bytes are those of SwiftProtobuf, where no map has an order to choose")
    func bytes() throws {
        var generator = EventGenerator(seed: Dice.runSeed)
        var options = BinaryEncodingOptions()
        options.useDeterministicOrdering = true
        var compared = 0
        for _ in 0..<Self.events {
            let event = try Sightline_V1_TrackingEvent(serializedBytes: generator.protoEvent())
            guard let json = try? event.jsonUTF8Bytes() as [UInt8], !json.contains("Fields\":{"),
                !json.contains("appData\":{")
            else { continue }
            compared += 1
            let expected: [UInt8] = try event.serializedBytes(options: options)
            #expect(Transcoded(json).bytes == expected, "seed \(Dice.runSeed): \(json.hex)")
        }
        #expect(compared > Self.events / 4)
    }

    @Test("any bytes: nothing traps, and what is taken is an event for SwiftProtobuf too")
    func anyBytes() throws {
        var generator = EventGenerator(seed: Dice.runSeed)
        var (taken, refused) = (0, 0)
        for _ in 0..<Self.events {
            let event = try Sightline_V1_TrackingEvent(serializedBytes: generator.protoEvent())
            guard let json = try? event.jsonUTF8Bytes() as [UInt8] else { continue }
            let text = generator.mutated(json)
            let found = Transcoded(text)
            #expect(found.offset <= text.count)
            if found.isWhole {
                taken += 1
                #expect(found.event != nil, "seed \(Dice.runSeed): \(text.hex)")
            } else {
                refused += 1
                #expect(found.bytes.isEmpty, "seed \(Dice.runSeed): \(text.hex)")
            }
        }
        // A generator of valid or invalid texts only would prove nothing.
        #expect(taken > 50 && refused > 50, "\(taken) taken, \(refused) refused")
    }
}

extension [UInt8] {
    fileprivate func contains(_ text: String) -> Bool {
        self.firstRange(of: Array(text.utf8)) != nil
    }
}
