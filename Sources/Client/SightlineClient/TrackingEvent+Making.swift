internal import Foundation
public import SightlineProtos
internal import SwiftProtobuf

/// Events in one call each, which happen now and have a random id. What a call leaves out is set
/// afterwards.
extension Sightline_V1_TrackingEvent {
    /// A push has reached the device.
    ///
    /// - Parameter payload: its JSON, as the app got it.
    public static func pushReceived(
        _ payload: some Sequence<UInt8>, platform: Sightline_V1_Platform, app: String = "",
        subject: String = ""
    ) -> Self {
        self.push(.received, payload, platform, app: app, subject: subject)
    }

    /// The recipient has tapped a push, or one of its buttons.
    ///
    /// - Parameters:
    ///   - payload: its JSON, as the app got it.
    ///   - button: the button's identifier; empty for the push itself.
    public static func pushOpened(
        _ payload: some Sequence<UInt8>, platform: Sightline_V1_Platform, app: String = "",
        subject: String = "", button: String = ""
    ) -> Self {
        var event = self.push(.opened, payload, platform, app: app, subject: subject)
        event.push.actionIdentifier = button
        return event
    }

    /// The recipient has cleared a push.
    ///
    /// - Parameter payload: its JSON, as the app got it.
    public static func pushDismissed(
        _ payload: some Sequence<UInt8>, platform: Sightline_V1_Platform, app: String = "",
        subject: String = ""
    ) -> Self {
        self.push(.dismissed, payload, platform, app: app, subject: subject)
    }

    /// An in-app message was seen.
    public static func inAppShown(_ messageID: String, app: String = "", subject: String = "")
        -> Self
    {
        self.inApp(messageID, .impression(.init()), app: app, subject: subject)
    }

    /// An action of an in-app message was chosen.
    ///
    /// - Parameters:
    ///   - url: the action's; without one the click counts as a dismissal.
    ///   - text: the button's label.
    public static func inAppClicked(
        _ messageID: String, url: String, text: String = "", app: String = "", subject: String = ""
    ) -> Self {
        let click = Sightline_V1_InAppClick.with { ($0.actionURL, $0.actionText) = (url, text) }
        return self.inApp(messageID, .click(click), app: app, subject: subject)
    }

    /// An in-app message was closed.
    ///
    /// - Parameter type: how. Of Firebase's SDK for iOS it is `.init(firebaseIOS: type.rawValue)`.
    public static func inAppDismissed(
        _ messageID: String, _ type: Sightline_V1_InAppDismissType, app: String = "",
        subject: String = ""
    ) -> Self {
        let dismissal = Sightline_V1_InAppDismissal.with { $0.type = type }
        return self.inApp(messageID, .dismissal(dismissal), app: app, subject: subject)
    }

    /// The push service took a push.
    ///
    /// No field may have the device's token.
    ///
    /// - Parameters:
    ///   - deliveryID: the payload's `_dId`.
    ///   - broadlogID: the payload's `_mId`.
    ///   - messageID: the push service's id of the message: `apns-id`, or FCM's `name`.
    ///   - attempt: the number of the attempt, from 1; 0 if it is not counted.
    ///   - display: who shows the notification.
    public static func pushSent(
        deliveryID: String, broadlogID: String, platform: Sightline_V1_Platform, app: String = "",
        subject: String = "", messageID: String = "", attempt: Int32 = 0,
        display: Sightline_V1_PushDisplay = .unspecified
    ) -> Self {
        var event = self.happeningNow(app: app, subject: subject)
        event.platform = platform
        event.pushSend.outcome = .sent
        event.pushSend.deliveryID = deliveryID
        event.pushSend.broadlogID = broadlogID
        event.pushSend.providerMessageID = messageID
        event.pushSend.attempt = attempt
        event.pushSend.display = display
        return event
    }

    /// An attempt to send a push failed.
    ///
    /// - Parameters:
    ///   - reason: why, as ``PushAnswer`` has it.
    ///   - code: the push service's own, as ``PushAnswer`` has it.
    public static func pushSendFailed(
        deliveryID: String, broadlogID: String, platform: Sightline_V1_Platform,
        reason: Sightline_V1_PushSendReason, code: String = "", app: String = "",
        subject: String = "", messageID: String = "", attempt: Int32 = 0,
        display: Sightline_V1_PushDisplay = .unspecified
    ) -> Self {
        var event = self.pushSent(
            deliveryID: deliveryID, broadlogID: broadlogID, platform: platform, app: app,
            subject: subject, messageID: messageID, attempt: attempt, display: display)
        event.pushSend.outcome = .failed
        event.pushSend.reason = reason
        event.pushSend.providerCode = code
        return event
    }

    /// A push was not tried, for a reason such as `noConsent` or `expired`.
    public static func pushSendSkipped(
        deliveryID: String, broadlogID: String, platform: Sightline_V1_Platform,
        reason: Sightline_V1_PushSendReason, app: String = "", subject: String = "",
        display: Sightline_V1_PushDisplay = .unspecified
    ) -> Self {
        var event = self.pushSent(
            deliveryID: deliveryID, broadlogID: broadlogID, platform: platform, app: app,
            subject: subject, display: display)
        event.pushSend.outcome = .skipped
        event.pushSend.reason = reason
        return event
    }

    private static func push(
        _ kind: Sightline_V1_PushInteractionKind, _ payload: some Sequence<UInt8>,
        _ platform: Sightline_V1_Platform, app: String, subject: String
    ) -> Self {
        var event = self.happeningNow(app: app, subject: subject)
        event.platform = platform
        event.push.kind = kind
        event.push.raw.json = Data(payload)
        return event
    }

    private static func inApp(
        _ messageID: String, _ what: Sightline_V1_InAppInteraction.OneOf_Event, app: String,
        subject: String
    ) -> Self {
        var event = self.happeningNow(app: app, subject: subject)
        event.inApp.messageID = messageID
        event.inApp.event = what
        return event
    }

    private static func happeningNow(app: String, subject: String) -> Self {
        .with { event in
            event.eventID = UUID().uuidString
            event.occurTime = Google_Protobuf_Timestamp(date: Date())
            event.appID = app
            event.subjectID = subject
        }
    }
}
