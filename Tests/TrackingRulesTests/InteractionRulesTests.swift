// What an interaction gives: the hits of pushes and track actions, by product and platform.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct InteractionRulesTests {
    private static let standard: [RuleRow] = [
        RuleRow("Android, received", .fcm(.received), "accepted: impression"),
        RuleRow("Android, dismissed", .fcm(.dismissed), "accepted: click"),
        RuleRow("Android, opened", .fcm(.opened), "accepted: click, open"),
        RuleRow("iOS, dismissed", .apns(.dismissed), "accepted: click"),
        RuleRow("iOS, opened", .apns(.opened), "accepted: click, open"),
        RuleRow(
            "Standard by name", .fcm(.opened) { $0.push.product = .standard },
            "accepted: click, open"),
    ]

    @Test(
        "D14: received is an impression, dismissed a click alone, opened a click and then an open",
        arguments: standard)
    func pushes(row: RuleRow) throws {
        try row.check()
    }

    @Test("D14: only a dismissal is marked as one, and its click is no open")
    func dismissals() throws {
        #expect(try TestEvent.fcm(.dismissed).judged().isDismissal)
        #expect(try !TestEvent.fcm(.opened).judged().isDismissal)
        #expect(try !TestEvent.fcm(.received).judged().isDismissal)
        #expect(try !TestEvent.action(.click).judged().isDismissal)
    }

    private static let actions: [RuleRow] = [
        RuleRow("1 is an open", .action(.open), "accepted: open"),
        RuleRow("2 is a click", .action(.click), "accepted: click"),
        RuleRow("3 is a button", .action(.button1), "accepted: button_1"),
        RuleRow("4 is a button", .action(.button2), "accepted: button_2"),
        RuleRow("5 is the close control", .action(.close), "accepted: close"),
        RuleRow("7 is an impression", .action(.impression), "accepted: impression"),
    ]

    @Test("D8, D9, D14: a track action gives the one hit that it names", arguments: actions)
    func trackActions(row: RuleRow) throws {
        try row.check()
    }

    private static let classicConflict = "rejected: track_action.action conflict"

    private static let classic: [RuleRow] = [
        RuleRow(
            "received", .fcm(.received) { $0.push.product = .classic }, "accepted: impression"),
        RuleRow("opened", .fcm(.opened) { $0.push.product = .classic }, "accepted: click"),
        RuleRow(
            "dismissed", .fcm(.dismissed) { $0.push.product = .classic },
            "rejected: push.kind conflict"),
        RuleRow(
            "dismissed on iOS", .apns(.dismissed) { $0.push.product = .classic },
            "rejected: push.kind conflict"),
        RuleRow("action 1", .action(.open, .classic), "accepted: impression"),
        RuleRow("action 2", .action(.click, .classic), "accepted: click"),
        RuleRow("action 3", .action(.button1, .classic), classicConflict),
        RuleRow("action 4", .action(.button2, .classic), classicConflict),
        RuleRow("action 5", .action(.close, .classic), classicConflict),
        RuleRow("action 7", .action(.impression, .classic), classicConflict),
    ]

    @Test("D12, D21: Classic gives the same keys other meanings", arguments: classic)
    func classicProduct(row: RuleRow) throws {
        try row.check()
    }

    @Test("D9, D12, D21: the numbers that each product gives a hit")
    func campaignActions() {
        let standard = HitKind.allCases.map { $0.campaignAction(of: .standard) }
        #expect(standard == [7, 2, 1, 3, 4, 5] + repeatElement(0, count: 9))
        let classic = HitKind.allCases.map { $0.campaignAction(of: .classic) }
        #expect(classic == [1, 2] + repeatElement(0, count: 13))
        #expect(HitKind.allCases.allSatisfy { $0.campaignAction(of: .firebase) == 0 })
    }

    @Test("D15: an app started in another way has no interaction, and gives nothing")
    func noInteraction() throws {
        let event = TestEvent.fcm(.opened) { $0.interaction = nil }
        #expect(try event.judged().line == "rejected: interaction required")
    }

    private static let ios: [RuleRow] = [
        RuleRow(
            "iOS push", .apns(.received), "accepted: impression +impression_unreliable"),
        RuleRow("Android push", .fcm(.received), "accepted: impression"),
        RuleRow(
            "iOS action", .action(.impression) { $0.platform = .ios },
            "accepted: impression +impression_unreliable"),
        RuleRow(
            "Classic's iOS action", .action(.open, .classic) { $0.platform = .ios },
            "accepted: impression +impression_unreliable"),
        RuleRow(
            "Android action", .action(.impression) { $0.platform = .android },
            "accepted: impression"),
        RuleRow("a click of iOS needs none", .apns(.opened), "accepted: click, open"),
        RuleRow(
            "an open of iOS needs none", .action(.open) { $0.platform = .ios }, "accepted: open"),
    ]

    @Test("D16: an impression from iOS is unreliable, and nothing requires one", arguments: ios)
    func unreliableImpressions(row: RuleRow) throws {
        try row.check()
    }

    private static let buttons: [RuleRow] = [
        RuleRow(
            "opened", .apns(.opened) { $0.push.actionIdentifier = "reply" },
            "accepted: click, open"),
        RuleRow(
            "received", .fcm(.received) { $0.push.actionIdentifier = "reply" },
            "accepted: impression"),
        RuleRow(
            "dismissed", .fcm(.dismissed) { $0.push.actionIdentifier = "reply" },
            "accepted: click"),
    ]

    @Test(
        "D19, D45: an action button takes the path of its interaction, received too",
        arguments: buttons)
    func actionButtons(row: RuleRow) throws {
        try row.check()
    }

    private static let media: [RuleRow] = [
        RuleRow(
            "iOS without mutable-content",
            .apns(.opened) { $0.push.apns.mediaAttachmentURL = "https://example.com/a.png" },
            "accepted: click, open +media_without_mutable_content"),
        RuleRow(
            "iOS with mutable-content",
            .apns(.opened) {
                $0.push.apns.mediaAttachmentURL = "https://example.com/a.png"
                $0.push.apns.aps.mutableContent = 1
            }, "accepted: click, open"),
        RuleRow(
            "iOS with mutable-content 2",
            .apns(.opened) {
                $0.push.apns.mediaAttachmentURL = "https://example.com/a.png"
                $0.push.apns.aps.mutableContent = 2
            }, "accepted: click, open +media_without_mutable_content"),
        RuleRow(
            "Android needs none",
            .fcm(.opened) { $0.push.fcm.data.mediaAttachmentURL = "https://example.com/a.png" },
            "accepted: click, open"),
    ]

    @Test("D13: media without mutable-content is accepted with a warning", arguments: media)
    func mediaWithoutMutableContent(row: RuleRow) throws {
        try row.check()
    }
}
