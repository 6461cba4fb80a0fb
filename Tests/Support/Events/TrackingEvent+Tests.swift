// Events for the tables: sound ones, which a test changes in the one point that it is about.

internal import Foundation
package import SightlineProtos
internal import SwiftProtobuf

package typealias TestEvent = Sightline_V1_TrackingEvent

extension Sightline_V1_TrackingEvent {
    package typealias Change = (inout Sightline_V1_TrackingEvent) -> Void

    /// The server's clock in the tests: 2027-01-15, in microseconds since 1970.
    package static let now: Int64 = 1_800_000_000_000_000

    /// An iOS push with sound ids and the flag on; if it was received, with a title to show (D63).
    package static func apns(
        _ kind: Sightline_V1_PushInteractionKind, _ change: Change = { _ in }
    ) -> Self {
        var event = Self.base
        event.push.kind = kind
        event.push.apns.deliveryID = "56c4"
        event.push.apns.messageID = "h138a"
        event.push.apns.acsDeliveryTracking = "on"
        if kind == .received { event.push.apns.aps.alert.title = "Sale" }
        change(&event)
        return event
    }

    /// An Android push with sound ids and the flag on; if it was received, with a title to show.
    package static func fcm(
        _ kind: Sightline_V1_PushInteractionKind, _ change: Change = { _ in }
    ) -> Self {
        var event = Self.base
        event.push.kind = kind
        event.push.fcm.data.deliveryID = "56c4"
        event.push.fcm.data.messageID = "h138a"
        event.push.fcm.data.acsDeliveryTracking = "on"
        if kind == .received { event.push.fcm.data.title = "Sale" }
        change(&event)
        return event
    }

    /// A push that was opened, with its payload in JSON.
    package static func raw(
        _ json: String, _ platform: Sightline_V1_Platform, _ change: Change = { _ in }
    ) -> Self {
        var event = Self.base
        event.platform = platform
        event.push.kind = .opened
        event.push.raw.json = Data(json.utf8)
        change(&event)
        return event
    }

    /// A track action with sound ids and no flag, as SDKs send it.
    package static func action(
        _ action: Sightline_V1_Action, _ product: Sightline_V1_CampaignProduct = .unspecified,
        _ change: Change = { _ in }
    ) -> Self {
        var event = Self.base
        event.trackAction.action = action
        event.trackAction.product = product
        event.trackAction.deliveryID = "56c4"
        event.trackAction.broadlogID = "h138a"
        change(&event)
        return event
    }

    /// A Firebase in-app message that was seen.
    package static func inApp(_ change: Change = { _ in }) -> Self {
        var event = Self.base
        event.inApp.messageID = "message-1"
        event.inApp.impression = .init()
        change(&event)
        return event
    }

    /// What a sender did with a push.
    package static func send(
        _ outcome: Sightline_V1_PushSendOutcome,
        _ reason: Sightline_V1_PushSendReason = .unspecified, _ change: Change = { _ in }
    ) -> Self {
        var event = Self.base
        event.pushSend.outcome = outcome
        event.pushSend.reason = reason
        event.pushSend.deliveryID = "56c4"
        event.pushSend.broadlogID = "h138a"
        change(&event)
        return event
    }

    private static var base: Self {
        var event = Self()
        event.eventID = "e1"
        event.appID = "com.example.app"
        event.subjectID = "subject-1"
        event.consent = .optedIn
        return event
    }

    /// The event's bytes.
    package func bytes() throws -> [UInt8] { try self.serializedBytes() }
}
