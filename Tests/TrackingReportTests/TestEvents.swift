// Events of the kinds that a report tells apart.
internal import SightlineProtos
internal import SwiftProtobuf

enum TestEvents {
    /// A push interaction; `button` is the action button that was chosen.
    static func push(
        _ kind: Sightline_V1_PushInteractionKind, id: Int, ios: Bool = false,
        delivery: String = "56c4", product: Sightline_V1_CampaignProduct = .standard,
        button: String = "", app: String = ""
    ) -> Sightline_V1_TrackingEvent {
        .with { event in
            event.appID = app
            event.push.kind = kind
            event.push.product = product
            event.push.actionIdentifier = button
            if ios {
                event.push.apns.deliveryID = delivery
                event.push.apns.messageID = "h\(id)"
            } else {
                event.push.fcm.data.deliveryID = delivery
                event.push.fcm.data.messageID = "h\(id)"
            }
        }
    }

    /// An action that the client has decided.
    static func action(
        _ action: Sightline_V1_Action, id: Int, delivery: String = "56c4"
    ) -> Sightline_V1_TrackingEvent {
        .with { event in
            event.trackAction.action = action
            event.trackAction.deliveryID = delivery
            event.trackAction.broadlogID = "h\(id)"
        }
    }

    /// What happened to an in-app message; `id` makes it a fact of its own.
    static func inApp(
        _ what: Sightline_V1_InAppInteraction.OneOf_Event, id: Int, message: String = "welcome",
        campaign: String = "Welcome", subject: String = ""
    ) -> Sightline_V1_TrackingEvent {
        .with { event in
            event.eventID = "event-\(id)"
            event.subjectID = subject
            event.inApp.messageID = message
            event.inApp.campaignName = campaign
            event.inApp.event = what
        }
    }

    /// A click with a URL; one without is a dismissal (D25).
    static func link(_ url: String) -> Sightline_V1_InAppInteraction.OneOf_Event {
        .click(.with { $0.actionURL = url })
    }

    /// A closed message, and one that could not be shown.
    static let dismissal = Sightline_V1_InAppInteraction.OneOf_Event.dismissal(.init())
    static let displayError = Sightline_V1_InAppInteraction.OneOf_Event.displayError(.init())
    static let impression = Sightline_V1_InAppInteraction.OneOf_Event.impression(.init())
}
