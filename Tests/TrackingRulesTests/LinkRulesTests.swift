// The tracked link beside the ids.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingRules
internal import WireFormat

struct LinkRulesTests {
    /// A link, and whether it contradicts the ids 56c4 and h138a.
    private static let rows: [(uri: String, warns: Bool)] = [
        ("http://t.example.com/r/?id=d138a,56c4,56c5", false),
        ("https://t.example.com/r/?id=h138a,56c4,1", false),
        ("http://t.example.com/r/?id=d138A,56C4,56c5&x=1", false),
        ("http://t.example.com/r/?id=s138a,56c4#top", false),
        ("http://t.example.com/r/?id=d138b,56c4,56c5", true),
        ("http://t.example.com/r/?id=d138a,56c5,56c5", true),
        ("http://t.example.com/r/?id=d1,d57fd6", true),
        // No tracked link.
        ("", false), ("https://mydeeplinkurl.com", false), ("app://shop/r/?id=", false),
        ("app://shop/r/?id=7", false), ("app://shop/r/?id=7,8", false),
        ("app://shop/r/?id=dxyz,56c5", false), ("app://shop/r/?id=d1,", false),
        ("app://shop?id=d1,d57fd6", false),
    ]

    @Test("D56: a tracked link with other ids gives a warning, on each platform", arguments: rows)
    func warning(_ uri: String, _ warns: Bool) throws {
        let warning = warns ? " +link_contradicts_ids" : ""
        let events: [TestEvent] = [
            .fcm(.received) { $0.push.fcm.data.uri = uri },
            .fcm(.opened) { $0.push.fcm.data.uri = uri },
            .apns(.opened) { $0.push.apns.uri = uri },
            .raw(
                """
                {"_dId": "56c4", "_mId": "h138a", "_acsDeliveryTracking": "on", "uri": "\(uri)"}
                """, .ios),
            .raw(
                """
                {"data": {"_dId": "56c4", "_mId": "h138a", "_acsDeliveryTracking": "on",
                 "uri": "\(uri)"}}
                """, .android),
        ]
        for event in events {
            let line = try event.judged().line
            #expect(line.hasPrefix("accepted") && line.hasSuffix(warning), "\(line)")
            #expect(line.contains("link_contradicts_ids") == warns, "\(line)")
        }
    }

    @Test("D56: so does one that is the sound", arguments: rows)
    func sound(_ link: String, _ warns: Bool) throws {
        let ids = #""_dId": "56c4", "_mId": "h138a", "_acsDeliveryTracking": "on""#
        let events: [TestEvent] = [
            .fcm(.opened) { $0.push.fcm.data.sound = link },
            .apns(.opened) { $0.push.apns.aps.sound = link },
            .raw(#"{\#(ids), "aps": {"sound": "\#(link)"}}"#, .ios),
            .raw(#"{"data": {\#(ids), "sound": "\#(link)"}}"#, .android),
        ]
        for event in events {
            let line = try event.judged().line
            #expect(line.contains("link_contradicts_ids") == warns, "\(line)")
        }
    }

    @Test("D56: a tracked link tells its letter and its own id, and can leave the recipient out")
    func parts() {
        func parts(_ link: String) -> [String]? {
            link.withBytes { TrackedLink($0).map { [$0.id, $0.withoutRecipient] } }
        }
        #expect(
            parts("http://t.example.com/r/?id=d1685a5,d57fd6,d57ff6&x=ä")
                == ["d:d57ff6", "http://t.example.com/r/?id=d*,d57fd6,d57ff6&x=ä"])
        #expect(parts("/r/?id=s1,2,3#top") == ["s:3", "/r/?id=s*,2,3#top"])
        #expect(parts("/r/?id=h1,2") == ["", "/r/?id=h*,2"])
        #expect(parts("/r/?id=h1,2,x") == ["", "/r/?id=h*,2,x"])
        #expect(parts("app://shop") == nil)
    }

    @Test("D56: Classic's links have ids of another form, and give no warning")
    func classic() throws {
        let event = TestEvent.fcm(.opened) {
            $0.push.product = .classic
            $0.push.fcm.data.uri = "http://t.example.com/r/?id=hd828,56c5,1"
        }
        #expect(try !event.judged().line.contains("link_contradicts_ids"))
    }
}
