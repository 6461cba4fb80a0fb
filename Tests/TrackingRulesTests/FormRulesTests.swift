// Form: what has to be there, which numbers are in their enums, and which times a Timestamp has.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct FormRulesTests {
    private static let needed: [RuleRow] = [
        RuleRow("nothing at all", TestEvent(), "rejected: interaction required"),
        RuleRow(
            "an empty push", .fcm(.opened) { $0.push = .init() },
            "rejected: push.payload required, push.kind required"),
        RuleRow(
            "no payload", .fcm(.opened) { $0.push.payload = nil },
            "rejected: push.payload required"),
        RuleRow(
            "no FCM data", .fcm(.opened) { $0.push.fcm.clearData() },
            "rejected: push.fcm.data required"),
        RuleRow("no kind", .apns(.unspecified), "rejected: push.kind required"),
        RuleRow("no action", .action(.unspecified), "rejected: track_action.action required"),
        RuleRow(
            "an empty track action", .action(.open) { $0.trackAction = .init() },
            "rejected: track_action.action required"),
        RuleRow(
            "no in-app event", .inApp { $0.inApp.event = nil },
            "rejected: in_app.event required"),
        RuleRow(
            "an empty in-app message", .inApp { $0.inApp = .init() },
            "rejected: in_app.event required, in_app.message_id required"),
    ]

    @Test("D39, D43, D54: what is missing is required, by its path", arguments: needed)
    func required(row: RuleRow) throws {
        try row.check()
        // Required even if consent or flag would suppress the event.
        var event = row.event
        event.consent = .optedOut
        try RuleRow(row.testDescription, event, row.outcome).check()
    }

    private static let ranges: [RuleRow] = [
        RuleRow("kind 4", .fcm(.UNRECOGNIZED(4)), "rejected: push.kind range"),
        RuleRow("kind -1", .apns(.UNRECOGNIZED(-1)), "rejected: push.kind range"),
        RuleRow("action 6", .action(.UNRECOGNIZED(6)), "rejected: track_action.action range"),
        RuleRow("action 8", .action(.UNRECOGNIZED(8)), "rejected: track_action.action range"),
        RuleRow("action -1", .action(.UNRECOGNIZED(-1)), "rejected: track_action.action range"),
        RuleRow(
            "product 3", .fcm(.opened) { $0.push.product = .UNRECOGNIZED(3) },
            "rejected: push.product range"),
        RuleRow(
            "product -1", .action(.open, .UNRECOGNIZED(-1)),
            "rejected: track_action.product range"),
        RuleRow(
            "all of them at once",
            .fcm(.UNRECOGNIZED(9)) {
                $0.push.product = .UNRECOGNIZED(9)
                $0.platform = .ios
                $0.occurTime.nanos = -1
            },
            "rejected: occur_time range, platform conflict, push.kind range, push.product range"),
        RuleRow(
            "under a flag that is off",
            .fcm(.UNRECOGNIZED(9)) { $0.push.fcm.data.acsDeliveryTracking = "off" },
            "rejected: push.kind range"),
    ]

    @Test(
        "D39: a number outside its enum is named, and all violations are found", arguments: ranges)
    func range(row: RuleRow) throws {
        try row.check()
    }

    private static let platforms: [RuleRow] = [
        RuleRow(
            "apns from Android", .apns(.opened) { $0.platform = .android },
            "rejected: platform conflict"),
        RuleRow(
            "fcm from iOS", .fcm(.opened) { $0.platform = .ios }, "rejected: platform conflict"),
        RuleRow(
            "fcm without data from iOS",
            .fcm(.opened) {
                $0.platform = .ios
                $0.push.fcm.clearData()
            }, "rejected: push.fcm.data required, platform conflict"),
        RuleRow(
            "fcm without data from Android",
            .fcm(.opened) {
                $0.platform = .android
                $0.push.fcm.clearData()
            }, "rejected: push.fcm.data required"),
        RuleRow(
            "apns from iOS", .apns(.opened) { $0.platform = .ios }, "accepted: click, open"),
        RuleRow(
            "fcm from Android", .fcm(.opened) { $0.platform = .android },
            "accepted: click, open"),
        RuleRow("apns from nowhere", .apns(.opened), "accepted: click, open"),
        RuleRow(
            "apns from a platform to come", .apns(.opened) { $0.platform = .UNRECOGNIZED(3) },
            "accepted: click, open"),
        RuleRow(
            "fcm from platform -1", .fcm(.opened) { $0.platform = .UNRECOGNIZED(-1) },
            "accepted: click, open"),
    ]

    @Test("D39: the platform is the payload's, or it is a conflict", arguments: platforms)
    func platform(row: RuleRow) throws {
        try row.check()
    }

    /// An offset from the server's clock and its outcome.
    struct TimeRow: CustomTestStringConvertible, Sendable {
        let seconds: Int64
        let nanos: Int32
        let outcome: String
        var testDescription: String { "\(self.seconds) s \(self.nanos) ns: \(self.outcome)" }

        init(_ seconds: Int64, _ nanos: Int32, _ outcome: String) {
            self.seconds = seconds
            self.nanos = nanos
            self.outcome = outcome
        }
    }

    private static let now = TestEvent.now / 1_000_000
    private static let thirtyDays: Int64 = 30 * 86_400

    private static let times: [TimeRow] = [
        TimeRow(0, 0, ""), TimeRow(now, 0, ""), TimeRow(now, 999_999_999, ""),
        TimeRow(now + 300, 0, ""), TimeRow(now + 300, 1000, "+clock_skew"),
        TimeRow(now - thirtyDays, 0, ""), TimeRow(now - thirtyDays - 1, 999_999_000, "+clock_skew"),
        TimeRow(0, 1, "+clock_skew"), TimeRow(-1, 0, "+clock_skew"),
        TimeRow(-62_135_596_800, 0, "+clock_skew"), TimeRow(-62_135_596_801, 0, "range"),
        TimeRow(253_402_300_799, 999_999_999, "+clock_skew"), TimeRow(253_402_300_800, 0, "range"),
        TimeRow(.max, 0, "range"), TimeRow(.min, 0, "range"), TimeRow(now, -1, "range"),
        TimeRow(now, 1_000_000_000, "range"), TimeRow(now, .max, "range"),
        TimeRow(now, .min, "range"), TimeRow(0, -1, "range"),
    ]

    @Test("D41: a time out of range is refused, a skewed clock is only warned of", arguments: times)
    func occurTime(row: TimeRow) throws {
        let event = TestEvent.fcm(.opened) {
            $0.occurTime.seconds = row.seconds
            $0.occurTime.nanos = row.nanos
        }
        let accepted = "accepted: click, open" + (row.outcome.isEmpty ? "" : " \(row.outcome)")
        #expect(
            try event.judged().line
                == (row.outcome == "range" ? "rejected: occur_time range" : accepted))
    }

    @Test("D41: whatever the server's clock says, nothing traps", arguments: [Int64.min, 0, .max])
    func extremeClock(receiveTime: Int64) throws {
        for seconds in [-62_135_596_800, 1, 253_402_300_799] as [Int64] {
            let bytes = try TestEvent.fcm(.opened) { $0.occurTime.seconds = seconds }.bytes()
            try bytes.withUnsafeBytes { bytes in
                var steps = NoSteps()
                let judgement = RuleSet().judge(
                    try EventView(bytes), receiveTime: receiveTime, steps: &steps)
                #expect(judgement.verdict == .accepted)
            }
        }
    }
}
