// The reader: what events of payloads hold, and what no event is made of.

internal import Foundation
internal import JSON
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import TrackingRules
internal import WireFormat
internal import sightline

struct PayloadReaderTests {
    private let reader = PayloadReader()

    private func event(_ data: Data, _ platform: Platform) throws -> Sightline_V1_TrackingEvent {
        try self.reader.event(from: data, platform: platform, interaction: .opened)
    }

    @Test(
        "D31, D32: a payload travels byte for byte, whatever it holds",
        arguments: [
            // Keys that two readers may take two ways: digits, equal names, names that look equal.
            #"{"orderId":18446744073709551615,"price":19.90,"ratio":1.0,"scale":1e2}"#,
            #"{"_dId":"a","promo":"first","promo":"second"}"#,
            "{\"caf\u{e9}\":\"composed\",\"cafe\u{301}\":\"decomposed\"}",
            // What the rules refuse is the server's to refuse.
            "{}", #"{"_mId":5}"#, #"{"aps":[]}"#, #"{"_dId":"a","_dId":"b"}"#,
            #"{"message":{"apns":{"payload":{}}}}"#, "\u{feff}{ \"data\": {} }\r\n",
        ], [.ios, .android] as [Platform])
    func raw(json: String, platform: Platform) throws {
        let event = try self.event(Data(json.utf8), platform)
        #expect(event.push.payload == .raw(event.push.raw))
        #expect(event.push.raw.json == Data(json.utf8))
        #expect(event.platform == (platform == .ios ? .ios : .android))
    }

    @Test(
        "What is no JSON object is refused with its reason",
        arguments: [
            ("", "JSON"), ("{\"a\":", "JSON"), ("[1]", "an array: [1]"), ("5", "an integer: 5"),
            ("{\"a\":1e999}", "64-bit"),
        ])
    func malformed(json: String, reason: String) {
        let error = #expect(throws: PayloadError.self) { try self.event(Data(json.utf8), .ios) }
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

    @Test(
        "D39: who gives the wrong platform is told the right one, and what a library makes of iOS's",
        arguments: [
            (#"{"notification":{},"data":{"_dId":"a","_mId":"h1"}}"#, .ios, true),
            (#"{"aps":{},"_dId":"a","_mId":"h1"}"#, .android, false),
        ] as [(String, PlatformName, Bool)])
    func wrongPlatform(json: String, named: PlatformName, isToldOfLibraries: Bool) {
        let error = #expect(throws: WrongPlatformError.self) {
            try PayloadForm.check(Data(json.utf8), file: "f", platform: named)
        }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("use --platform \(named == .ios ? "android" : "ios")"))
        #expect(text.contains("what is in `data` alone") == isToldOfLibraries)
    }

    @Test(
        "D31, D32: an event holds platform, payload and what happened; its id and time stay empty",
        arguments: [
            ("apns-alert.json", .ios), ("fcm-sent.json", .android),
        ] as [(String, Platform)],
        [.received, .dismissed, .opened] as [Sightline_V1_PushInteractionKind])
    func events(
        sample: (name: String, platform: Platform), kind: Sightline_V1_PushInteractionKind
    ) throws {
        let data = try Fixtures.data(sample.name)
        let event = try self.reader.event(
            from: data, platform: sample.platform, interaction: kind)
        #expect(event.push.kind == kind && event.push.raw.json == data)
        #expect(event.eventID.isEmpty && !event.hasOccurTime)
        #expect(event.platform == (sample.platform == .ios ? .ios : .android))
    }
}
