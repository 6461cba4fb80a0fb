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
}
