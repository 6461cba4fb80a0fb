// The tracking flag: the whole truth table, for every kind of interaction that carries it.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct FlagRulesTests {
    /// A row of flag-truth-table.csv.
    struct TableRow: CustomTestStringConvertible, Sendable {
        let flag: String?
        let platform: Sightline_V1_Platform
        let verdict: String
        let testDescription: String

        init?(_ line: String) {
            let columns = line.split(separator: ",", omittingEmptySubsequences: false)
            guard columns.count == 3 else { return nil }
            switch columns[0] {
            case "<absent>": self.flag = nil
            case "<empty>": self.flag = ""
            default: self.flag = columns[0].filter { $0 != "\"" }
            }
            self.platform = columns[1] == "ios" ? .ios : .android
            self.verdict = String(columns[2])
            self.testDescription = line
        }

        /// Expects the verdict of the table, without hits, and with no warning but the flag's.
        func expect(_ judgement: Judgement, warned: Bool = true) {
            let isAssumed = judgement.warnings.contains(.flagAssumedOn)
            let line = "\(judgement.verdict)".snakeCase + (isAssumed ? "+flag_assumed_on" : "")
            let plain = self.verdict.split(separator: "+").first.map(String.init) ?? ""
            #expect(line == (warned ? self.verdict : plain))
            #expect(judgement.violations == [], "D6: a flag is never an error")
            #expect((judgement.verdict == .accepted) == !judgement.hits.isEmpty)
        }
    }

    private static let table: [TableRow] = {
        // An unreadable table is empty, which `isComplete` refuses.
        let lines = (try? Fixtures.lines("flag-truth-table.csv")) ?? []
        return lines.dropFirst().compactMap { TableRow($0) }
    }()

    @Test("D7: the truth table is there, with 26 rows")
    func isComplete() {
        #expect(Self.table.count == 26)
    }

    @Test(
        "D1-D7, D46: the flag of a push, for received, dismissed and opened alike",
        arguments: table, [.received, .dismissed, .opened] as [Sightline_V1_PushInteractionKind])
    func pushes(row: TableRow, kind: Sightline_V1_PushInteractionKind) throws {
        var event = TestEvent.fcm(kind) { $0.push.fcm.data.clearAcsDeliveryTracking() }
        if let flag = row.flag { event.push.fcm.data.acsDeliveryTracking = flag }
        if row.platform == .ios {
            event = .apns(kind) { $0.push.apns.clearAcsDeliveryTracking() }
            if let flag = row.flag { event.push.apns.acsDeliveryTracking = flag }
        }
        row.expect(try event.judged())
    }

    @Test("D7: a track action's flag is read as on the event's platform", arguments: table)
    func trackActions(row: TableRow) throws {
        let event = TestEvent.action(.click) {
            $0.platform = row.platform
            if let flag = row.flag { $0.trackAction.acsDeliveryTracking = flag }
        }
        row.expect(try event.judged(), warned: false)
    }

    @Test(
        "D7: without a platform, a track action's flag is read as on Android", arguments: table,
        [.unspecified, .UNRECOGNIZED(9)] as [Sightline_V1_Platform])
    func trackActionsWithoutPlatform(row: TableRow, platform: Sightline_V1_Platform) throws {
        guard row.platform == .android else { return }
        let event = TestEvent.action(.click) {
            $0.platform = platform
            if let flag = row.flag { $0.trackAction.acsDeliveryTracking = flag }
        }
        row.expect(try event.judged(), warned: false)
    }

    private static let absent: [RuleRow] = [
        RuleRow(
            "Standard's payload", .fcm(.opened) { $0.push.fcm.data.clearAcsDeliveryTracking() },
            "accepted: click, open +flag_assumed_on"),
        RuleRow(
            "Classic's payload",
            .fcm(.opened) {
                $0.push.fcm.data.clearAcsDeliveryTracking()
                $0.push.product = .classic
            }, "accepted: click"),
        RuleRow("Standard's action", .action(.click), "accepted: click"),
        RuleRow("Classic's action", .action(.click, .classic), "accepted: click"),
        RuleRow(
            "a custom field is no flag",
            .fcm(.opened) {
                $0.push.fcm.data.clearAcsDeliveryTracking()
                $0.push.fcm.data.customFields = ["_acsDeliveryTracking": "off"]
            }, "accepted: click, open +flag_assumed_on"),
    ]

    @Test(
        "D1, D3, D7: an absent flag is on, with a warning for Standard's payloads alone",
        arguments: absent)
    func absentFlag(row: RuleRow) throws {
        try row.check()
    }

    @Test(
        "D46: letters compare in ASCII: look-alikes are unknown on both platforms",
        arguments: ["ｏｎ", "oﬀ", "οn", "on\0", "O\u{4e}\u{301}", "/n", "\u{2f}\u{4e}", "o\u{2e}"])
    func lookAlikes(flag: String) throws {
        let ios = TestEvent.apns(.opened) { $0.push.apns.acsDeliveryTracking = flag }
        #expect(try ios.judged().verdict == .suppressedFlagUnknown)
        let android = TestEvent.fcm(.opened) { $0.push.fcm.data.acsDeliveryTracking = flag }
        #expect(try android.judged().verdict == .suppressedFlagUnknown)
    }

    @Test("D2, D6: off and unknown have verdicts of their own, also for Classic")
    func suppressedClassic() throws {
        let off = TestEvent.action(.click, .classic) { $0.trackAction.acsDeliveryTracking = "off" }
        #expect(try off.judged().line == "suppressed_flag_off")
        let odd = TestEvent.action(.click, .classic) { $0.trackAction.acsDeliveryTracking = "Off" }
        #expect(try odd.judged().line == "suppressed_flag_unknown")
    }
}
