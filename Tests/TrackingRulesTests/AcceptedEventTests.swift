// What the window of recent hits makes of an accepted event: new, partly new, known, or odd in the
// order of things.

internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
@testable internal import TrackingRules

struct AcceptedEventTests {
    /// A window that forgets nothing, and settles as the journal's does.
    private struct Window {
        private var marks: [HitKey: Marks] = [:]

        /// Admits an event and settles it: "click, open +clock_skew", or "" for a duplicate.
        mutating func settle(_ event: TestEvent, tenant: String = "default") throws -> String {
            let admitted = try AdmittedRequest.of([event], tenant: tenant)
            var accepted = try #require(admitted.acceptedEvents.first, "\(admitted.refusals)")
            accepted.settle(
                known: self.marks[accepted.key] ?? [],
                notification: self.marks[accepted.notification] ?? [])
            self.marks[accepted.key, default: []].formUnion(accepted.marks)
            self.marks[accepted.notification, default: []].formUnion(accepted.notificationMarks)
            #expect(
                admitted.verdict(of: accepted)
                    == (accepted.granted.isEmpty ? .duplicate : .accepted))
            return Judgement(
                verdict: .accepted, hits: accepted.granted, warnings: accepted.warnings
            ).line.replacing("accepted", with: "").replacing(": ", with: "")
        }
    }

    /// Events one after the other, each with what it is granted.
    struct Story: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let steps: [(event: TestEvent, outcome: String)]

        init(_ name: String, _ steps: (TestEvent, String)...) {
            self.testDescription = name
            self.steps = steps
        }

        func check() throws {
            var window = Window()
            for (index, step) in self.steps.enumerated() {
                #expect(try window.settle(step.event) == step.outcome, "step \(index)")
            }
        }
    }

    private static func button(
        _ kind: Sightline_V1_PushInteractionKind, _ identifier: String
    ) -> TestEvent {
        .apns(kind) { $0.push.actionIdentifier = identifier }
    }

    private static let duplicateStories: [Story] = [
        Story("an open at every resume", (.fcm(.opened), "click, open"), (.fcm(.opened), "")),
        Story(
            "two callbacks of one tap have two event ids", (.apns(.opened), "click, open"),
            (.apns(.opened) { $0.eventID = "e2" }, "")),
        Story(
            "the open of a known click", (.action(.click), "click"), (.fcm(.opened), "open"),
            (.fcm(.opened), "")),
        Story(
            "the click of a known open", (.action(.open), "open +open_without_click"),
            (.fcm(.opened), "click")),
        Story(
            "ids byte for byte", (.fcm(.received), "impression"),
            (.fcm(.received) { $0.push.fcm.data.deliveryID = "56C4" }, "impression")),
        Story(
            "another product", (.fcm(.received), "impression"),
            (.fcm(.received) { $0.push.product = .classic }, "impression")),
        Story(
            "in-app messages by event id", (.inApp(), "in_app_impression"), (.inApp(), ""),
            (.inApp { $0.eventID = "e2" }, "in_app_impression"),
            (.inApp { $0.inApp.dismissal = .init() }, "in_app_dismissal")),
        Story(
            "triggers of an in-app message, and its impression",
            (.inApp { $0.inApp.triggered = .init() }, "in_app_triggered"),
            (.inApp { $0.inApp.triggered = .init() }, ""), (.inApp(), "in_app_impression"),
            (.inApp { $0.inApp.suppressed = .init() }, "in_app_suppressed"),
            (.inApp { $0.inApp.suppressed = .init() }, ""),
            (.inApp { $0.inApp.triggered = .init() }, "")),
    ]

    @Test(
        "D17, D30, D47: the same hit counts once, and of an event only what is new",
        arguments: duplicateStories)
    func duplicates(story: Story) throws {
        try story.check()
    }

    private static let buttonStories: [Story] = [
        Story(
            "two buttons are two hits", (button(.opened, "reply"), "click, open"),
            (button(.opened, "later"), "click, open"), (button(.opened, "reply"), "")),
        Story(
            "a button and the notification", (.apns(.opened), "click, open"),
            (button(.opened, "reply"), "click, open")),
        Story(
            "received with a button",
            (button(.received, "reply"), "impression +impression_unreliable"),
            (.apns(.received), "impression +impression_unreliable")),
    ]

    @Test("D17, D19, D45: the button is part of the key", arguments: buttonStories)
    func buttons(story: Story) throws {
        try story.check()
    }

    private static let funnelStories: [Story] = [
        Story("open without click", (.action(.open), "open +open_without_click")),
        Story("open after its click", (.action(.click), "click"), (.action(.open), "open")),
        Story(
            "open after a button's click", (button(.dismissed, "x"), "click"),
            (.action(.open), "open +open_after_dismiss")),
        Story(
            "open after dismissal", (.fcm(.dismissed), "click"),
            (.fcm(.opened), "open +open_after_dismiss")),
        Story(
            "a button's open after dismissal", (.apns(.dismissed), "click"),
            (button(.opened, "reply"), "click, open +open_after_dismiss")),
        Story(
            "a click by track action is no dismissal", (.action(.click), "click"),
            (.fcm(.opened), "open")),
        Story(
            "impression after click", (.fcm(.opened), "click, open"),
            (.fcm(.received), "impression +impression_after_click")),
        Story(
            "impression after a button's click", (button(.opened, "reply"), "click, open"),
            (.fcm(.received), "impression +impression_after_click")),
        Story(
            "the right order", (.fcm(.received), "impression"), (.fcm(.opened), "click, open")),
        Story(
            "no impression is needed", (.fcm(.opened), "click, open")),
        Story(
            "a duplicate is warned of nothing new", (.fcm(.received), "impression"),
            (.fcm(.opened), "click, open"), (.fcm(.received), "")),
        Story(
            "another notification's dismissal",
            (.fcm(.dismissed) { $0.push.fcm.data.messageID = "h2" }, "click"),
            (.fcm(.opened), "click, open")),
    ]

    @Test("D16, D18: what is odd in the funnel is only warned of", arguments: funnelStories)
    func funnel(story: Story) throws {
        try story.check()
    }

    @Test("D17: tenants do not know each other's hits")
    func tenants() throws {
        var window = Window()
        #expect(try window.settle(.fcm(.opened), tenant: "one") == "click, open")
        #expect(try window.settle(.fcm(.opened), tenant: "two") == "click, open")
        #expect(try window.settle(.fcm(.opened), tenant: "one") == "")
    }

    @Test("D18: the funnel's marks hide no hit of a notification, and no other hit is one of them")
    func marks() {
        let marks: Marks = [.clicked, .dismissed]
        for kind in HitKind.allCases {
            let kinds = HitKinds(kind)
            let isTrigger = kind == .inAppTriggered || kind == .inAppSuppressed
            // A notification has no trigger of an in-app message, and these have keys of their own.
            #expect(marks.missing(in: kinds) == (isTrigger ? [] : kinds))
            #expect(Marks(kinds: kinds).missing(in: kinds) == [])
            #expect(Marks(kinds: kinds).isDisjoint(with: marks) == !isTrigger)
        }
    }
}
