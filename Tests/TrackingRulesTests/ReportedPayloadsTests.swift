// The payloads of Tests/Fixtures/reported, each made after a public report of a fault elsewhere:
// what the rules make of them, and what the inspector says of them.

internal import Foundation
internal import PayloadInspector
internal import SightlineProtos
internal import TestSupport
internal import Testing
@testable internal import TrackingRules
internal import WireFormat

struct ReportedPayloadsTests {
    /// Name, platform, and the keys of all findings.
    private static let rows: [(String, Platform, [String])] = [
        // FCM's own keys beside the app's: nobody can rename or quote them.
        ("c01-userinfo.json", .ios, ["aps.content-available"]), ("c01-extras.json", .android, [""]),
        // One message for both systems, with the app's keys in the data that both read.
        ("c03-universal.json", .ios, ["message"]),
        ("c03-universal.json", .android, ["message", "message.token"]),
        // Custom keys that are called like a wrapper, and one that is not.
        ("c10-data-object.json", .android, ["data", ""]),
        ("c10-other-object.json", .android, ["more", ""]),
        (
            "c10-data-object.json", .ios, ["aps", "title", "body", "aps.content-available"]
        ),
        ("c11-numbers.json", .ios, []),
        ("c11-numbers-fcm.json", .android, ["data.orderId", "data.price"]),
        // Over 4,096 bytes as text: indented, escaped, in two parts that are pushed apart.
        ("c16-pretty.json", .ios, []), ("c16-escaped.json", .ios, []),
        ("c16-both.json", .ios, ["message", "aps.content-available"]),
        ("c16-both.json", .android, ["message", "message.token"]),
    ]

    @Test(
        "D55: each reported payload is accepted, and the inspector says so, with no wrong advice",
        arguments: rows)
    func payloads(name: String, platform: Platform, keys: [String]) throws {
        let json = try Fixtures.data("reported/\(name)")
        let proto: Sightline_V1_Platform = platform == .ios ? .ios : .android
        let event = TestEvent.raw(String(decoding: json, as: UTF8.self), proto)
        #expect(event.push.raw.json == json)
        #expect(try event.judged().line == "accepted: click, open")
        let document = try PayloadDocument(Array(json))
        let inspection = PayloadInspector().inspect(document, platform: platform)
        #expect(inspection.tracked)
        #expect(inspection.findings.map(\.key) == keys, "\(inspection.findings)")
    }

    @Test("D17: the parts of one message for both systems name one delivery, on either system")
    func universal() throws {
        let json = String(decoding: try Fixtures.data("reported/c03-universal.json"), as: UTF8.self)
        for platform in [Sightline_V1_Platform.ios, .android] {
            let admitted = try AdmittedRequest.of([TestEvent.raw(json, platform)])
            let accepted = try #require(admitted.acceptedEvents.first)
            try admitted.entries.withUnsafeBytes { entries in
                let entry = try #require(HitEncoding.event(at: accepted.entryOffset, in: entries))
                #expect(entry.deliveryID.text == "56c4" && entry.broadlogID.text == "h1c03")
            }
        }
    }
}
