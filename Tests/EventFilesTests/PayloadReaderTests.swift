// The reader against the vendors' payloads, and against what is no payload in JSON.

internal import EventFiles
internal import Foundation
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import TrackingCore

struct PayloadReaderTests {
    private let reader = PayloadReader()

    @Test(
        "D31, D32: a payload travels byte for byte; the event's id and time stay empty",
        arguments: [
            ("apns-alert.json", .ios), ("apns-tester.json", .ios), ("fcm-sent.json", .android),
            ("fcm-tester.json", .android),
        ] as [(String, Platform)],
        [.received, .dismissed, .opened] as [Sightline_V1_PushInteractionKind])
    func events(
        sample: (name: String, platform: Platform), kind: Sightline_V1_PushInteractionKind
    ) throws {
        let data = try Fixtures.data(sample.name)
        let event = try self.reader.event(
            from: data, platform: sample.platform, interaction: kind)
        #expect(event.push.raw.json == data)
        #expect(event.push.kind == kind)
        #expect(event.platform == (sample.platform == .ios ? .ios : .android))
        #expect(event.eventID.isEmpty && !event.hasOccurTime)
    }

    @Test(
        "What is no JSON object is refused with its reason",
        arguments: [
            ("", "JSON"), ("{\"a\":", "JSON"), ("[1]", "an array: [1]"), ("5", "an integer: 5"),
            ("{\"a\":1e999}", "64-bit"),
        ])
    func malformed(json: String, reason: String) {
        let error = #expect(throws: PayloadError.self) {
            try self.reader.event(from: Data(json.utf8), platform: .ios, interaction: .opened)
        }
        #expect(error.map { "\($0)" }?.contains(reason) == true, "\(String(describing: error))")
    }

    @Test("Bytes are read up to the limit, and one beyond is refused")
    func sizeIsBounded() throws {
        let limit = PayloadReader.maximumByteCount
        let padded = Data("{}".utf8) + Data(repeating: UInt8(ascii: " "), count: limit - 2)
        #expect(try self.reader.document(from: padded).value == .object([:]))
        let error = PayloadError.tooLarge(byteCount: limit + 1, limit: limit)
        #expect(throws: error) { try self.reader.document(from: padded + Data(" ".utf8)) }
    }
}
