// Events in one call each.
internal import Foundation
internal import SightlineClient
internal import SightlineProtos
internal import SwiftProtobuf
internal import Testing

struct MadeEventsTests {
    private let payload = Data("{}".utf8)

    @Test("each call makes its event, which happens now and has its own id")
    func events() {
        let pushes: [(Sightline_V1_TrackingEvent, Sightline_V1_PushInteractionKind)] = [
            (.pushReceived(self.payload, platform: .ios, app: "shop", subject: "s"), .received),
            (.pushOpened(self.payload, platform: .ios, app: "shop", subject: "s"), .opened),
            (.pushDismissed(self.payload, platform: .ios, app: "shop", subject: "s"), .dismissed),
        ]
        for (event, kind) in pushes {
            #expect(event.push.kind == kind && event.push.raw.json == self.payload)
            #expect(event.platform == .ios && event.appID == "shop" && event.subjectID == "s")
            #expect(abs(event.occurTime.date.timeIntervalSinceNow) < 3600)
        }
        #expect(Set(pushes.map(\.0.eventID)).count == 3)
        let tapped = Sightline_V1_TrackingEvent.pushOpened(
            [UInt8](self.payload), platform: .android, button: "BUY")
        #expect(tapped.push.actionIdentifier == "BUY" && tapped.push.raw.json == self.payload)
        let inApp: [(Sightline_V1_TrackingEvent, Sightline_V1_InAppInteraction.OneOf_Event)] = [
            (.inAppShown("m"), .impression(.init())),
            (
                .inAppClicked("m", url: "https://shop", text: "Buy"),
                .click(.with { ($0.actionURL, $0.actionText) = ("https://shop", "Buy") })
            ), (.inAppDismissed("m", .swipe), .dismissal(.with { $0.type = .swipe })),
        ]
        for (event, what) in inApp {
            #expect(event.inApp.messageID == "m" && event.inApp.event == what)
        }
    }

    @Test("what a sender did with a push is an event of one call")
    func sends() {
        let sent = Sightline_V1_TrackingEvent.pushSent(
            deliveryID: "1f", broadlogID: "h1", platform: .ios, app: "shop", subject: "s",
            messageID: "8c7d", attempt: 2, display: .app)
        #expect(sent.platform == .ios && sent.appID == "shop" && sent.subjectID == "s")
        #expect(!sent.eventID.isEmpty && abs(sent.occurTime.date.timeIntervalSinceNow) < 3600)
        var expected = Sightline_V1_PushSend.with { send in
            (send.deliveryID, send.broadlogID, send.outcome) = ("1f", "h1", .sent)
            (send.providerMessageID, send.attempt, send.display) = ("8c7d", 2, .app)
        }
        #expect(sent.pushSend == expected)
        let failed = Sightline_V1_TrackingEvent.pushSendFailed(
            deliveryID: "1f", broadlogID: "h1", platform: .android, reason: .unregistered,
            code: "UNREGISTERED", messageID: "8c7d", attempt: 2, display: .app)
        expected.outcome = .failed
        (expected.reason, expected.providerCode) = (.unregistered, "UNREGISTERED")
        #expect(failed.pushSend == expected && failed.platform == .android)
        let skipped = Sightline_V1_TrackingEvent.pushSendSkipped(
            deliveryID: "1f", broadlogID: "h1", platform: .ios, reason: .noConsent,
            display: .silent)
        expected = .with { send in
            (send.deliveryID, send.broadlogID, send.outcome) = ("1f", "h1", .skipped)
            (send.reason, send.display) = (.noConsent, .silent)
        }
        #expect(skipped.pushSend == expected)
    }

    @Test(
        "a number of Firebase's enum for iOS is the type that it means",
        arguments: [(0, 3), (1, 2), (2, 1), (3, 0), (4, 0), (-1, 0)])
    func firebaseNumbers(rawValue: Int, number: Int) {
        #expect(Sightline_V1_InAppDismissType(firebaseIOS: rawValue).rawValue == number)
    }
}
