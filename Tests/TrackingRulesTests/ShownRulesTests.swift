// Impressions of payloads that show nothing.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct ShownRulesTests {
    private static let nothing = "accepted: impression +nothing_shown"
    private static let nothingOnIOS = "accepted: impression +impression_unreliable +nothing_shown"

    private static func fcm(_ change: (inout Sightline_V1_FcmData) -> Void) -> TestEvent {
        .fcm(.received) {
            $0.push.fcm.data.title = ""
            change(&$0.push.fcm.data)
        }
    }

    private static func apns(_ change: (inout Sightline_V1_Aps) -> Void) -> TestEvent {
        .apns(.received) {
            $0.push.apns.aps.alert = .init()
            change(&$0.push.apns.aps)
        }
    }

    private static let typedRows: [RuleRow] = [
        RuleRow("Android, nothing", fcm { _ in }, nothing),
        RuleRow("Android, a title", fcm { $0.title = "Sale" }, "accepted: impression"),
        RuleRow("Android, a body", fcm { $0.body = "Now" }, "accepted: impression"),
        RuleRow(
            "Android, Classic's text", fcm { $0.customFields = ["_msg": "Now"] },
            "accepted: impression"),
        RuleRow("Android, an empty one", fcm { $0.customFields = ["_msg": ""] }, nothing),
        RuleRow(
            "Android, a sound, a badge, media and a field",
            fcm {
                $0.sound = "default"
                $0.badge = 1
                $0.mediaAttachmentURL = "https://a.example"
                $0.customFields = ["title ": "Sale"]
            }, nothing),
        RuleRow("iOS, nothing", apns { _ in }, nothingOnIOS),
        RuleRow(
            "iOS, no aps", .apns(.received) { $0.push.apns.clearAps() }, nothingOnIOS),
        RuleRow(
            "iOS, silent",
            apns {
                $0.contentAvailable = 1
                $0.sound = "default"
                $0.badge = 1
            }, nothingOnIOS),
        RuleRow(
            "iOS, a body", apns { $0.alert.body = "Now" },
            "accepted: impression +impression_unreliable"),
        RuleRow(
            "iOS, an alert of the app's own texts",
            apns { $0.otherFields = ["alert": #"{"loc-key":"SALE"}"#] },
            "accepted: impression +impression_unreliable"),
        RuleRow("opened", .fcm(.opened), "accepted: click, open"),
        RuleRow("dismissed", .apns(.dismissed), "accepted: click"),
        RuleRow("a TrackAction has no payload", .action(.impression), "accepted: impression"),
    ]

    @Test("D63: an impression of a payload that shows nothing is warned of", arguments: typedRows)
    func typed(row: RuleRow) throws {
        try row.check()
    }

    private static let ids = #""_dId":"56c4","_mId":"h138a","_acsDeliveryTracking":"on""#

    private static func raw(_ json: String, _ platform: Sightline_V1_Platform) -> TestEvent {
        .raw(json, platform) { $0.push.kind = .received }
    }

    private static let shown: [(String, Sightline_V1_Platform)] = [
        (#"{\#(ids),"title":"Sale"}"#, .android),
        (#"{\#(ids),"_msg":"Sale"}"#, .android),
        (#"{"data":{\#(ids),"body":"Now"}}"#, .android),
        (#"{"data":{\#(ids)},"notification":{"title":"Sale"}}"#, .android),
        (#"{"message":{"data":{\#(ids)},"notification":{"title":"Sale"}}}"#, .android),
        (#"{"message":{"android":{"data":{\#(ids)},"notification":{}}}}"#, .android),
        (#"{\#(ids),"aps":{"alert":"Sale"}}"#, .ios),
        (#"{\#(ids),"aps":{"alert":{"body":"Now"}}}"#, .ios),
        (#"{\#(ids),"aps":{"alert":{"title-loc-key":"SALE"}}}"#, .ios),
        (#"{"message":{"data":{\#(ids)},"apns":{"payload":{"aps":{"alert":"Sale"}}}}}"#, .ios),
        (#"{"message":{"data":{\#(ids)},"notification":{"title":"Sale"}}}"#, .ios),
    ]

    private static let silent: [(String, Sightline_V1_Platform)] = [
        (#"{\#(ids)}"#, .android),
        (#"{\#(ids),"title":"","body":7,"sound":"default"}"#, .android),
        (#"{"data":{\#(ids)},"title":"Sale"}"#, .android),
        (#"{\#(ids)}"#, .ios),
        (#"{\#(ids),"title":"Sale","aps":{"content-available":1,"sound":"default"}}"#, .ios),
        (#"{\#(ids),"aps":{"alert":{}}}"#, .ios),
        (#"{\#(ids),"aps":{"alert":{"title":"","action":"x"}}}"#, .ios),
        (#"{"message":{"data":{\#(ids),"title":"Sale"}}}"#, .ios),
    ]

    @Test("D63: a raw payload shows what its form shows", arguments: shown)
    func rawShown(_ json: String, _ platform: Sightline_V1_Platform) throws {
        let line = try Self.raw(json, platform).judged().line
        #expect(line.hasPrefix("accepted: impression") && !line.contains("nothing_shown"))
    }

    @Test("D63: a raw payload without a text shows nothing", arguments: silent)
    func rawSilent(_ json: String, _ platform: Sightline_V1_Platform) throws {
        let line = try Self.raw(json, platform).judged().line
        #expect(line == (platform == .ios ? Self.nothingOnIOS : Self.nothing))
    }

    @Test("D63: two alerts in one payload are no contradiction, as nothing else depends on them")
    func twoAlerts() throws {
        let json = #"{\#(Self.ids),"aps":{"alert":"Sale","alert":{"body":"Now"}}}"#
        let line = try Self.raw(json, .ios).judged().line
        #expect(line == "accepted: impression +impression_unreliable")
    }
}
