// Events and requests as clients send them.
package import SightlineProtos
internal import SwiftProtobuf

/// Events of all forms, which a test tells apart by an id.
package enum TestEvents {
    /// An event with an id and nothing else.
    package static func event(_ id: String) -> TestEvent { .with { $0.eventID = id } }

    /// A push interaction; if it was received, with a title to show (D63).
    ///
    /// - Parameters:
    ///   - id: makes the message's id, `h` and hex.
    ///   - platform: whose payload it has; Android's unless it is iOS.
    ///   - button: the action button that was chosen; empty for the notification itself.
    package static func push(
        _ kind: Sightline_V1_PushInteractionKind, id: Int,
        on platform: Sightline_V1_Platform = .android, delivery: String = "56c4",
        product: Sightline_V1_CampaignProduct = .unspecified, button: String = "", app: String = ""
    ) -> TestEvent {
        .with { event in
            event.appID = app
            event.push = self.interaction(kind, self.messageID(id), on: platform, delivery)
            event.push.product = product
            event.push.actionIdentifier = button
        }
    }

    /// The same push, whose payload shows nothing (D63).
    package static func silent(_ event: TestEvent) -> TestEvent {
        var event = event
        switch event.push.payload {
        case .apns: event.push.apns.clearAps()
        case .fcm: event.push.fcm.data.title = ""
        case .raw, nil: break
        }
        return event
    }

    /// An event of a push notification whose flag is on, as an app sends it.
    ///
    /// - Parameter id: the notification's broadlog id, and the event's own id.
    package static func push(
        _ id: String, _ kind: Sightline_V1_PushInteractionKind = .opened, flag: String? = "on",
        platform: Sightline_V1_Platform = .android
    ) -> TestEvent {
        .with { event in
            event.eventID = id
            event.appID = "com.example.app"
            event.platform = platform
            event.consent = .optedIn
            event.push = self.interaction(kind, id, on: platform, flag: flag)
        }
    }

    /// What a sender did with a push notification: one attempt, which failed for the network if it
    /// did; `id` makes the message's id.
    package static func send(
        _ outcome: Sightline_V1_PushSendOutcome, id: Int,
        on platform: Sightline_V1_Platform = .android, delivery: String = "56c4",
        product: Sightline_V1_CampaignProduct = .unspecified, app: String = ""
    ) -> TestEvent {
        .with { event in
            event.appID = app
            event.platform = platform
            event.pushSend.deliveryID = delivery
            event.pushSend.broadlogID = self.messageID(id)
            event.pushSend.product = product
            event.pushSend.outcome = outcome
            event.pushSend.reason = outcome == .sent ? .unspecified : .network
        }
    }

    /// A TrackAction, which has no platform of its own; `id` makes the message's id.
    package static func action(
        _ action: Sightline_V1_Action, id: Int, delivery: String = "56c4",
        product: Sightline_V1_CampaignProduct = .unspecified
    ) -> TestEvent {
        .with { event in
            event.trackAction.action = action
            event.trackAction.deliveryID = delivery
            event.trackAction.broadlogID = self.messageID(id)
            event.trackAction.product = product
        }
    }

    /// An impression; only impressions with the same `id` are duplicates.
    package static func impression(_ id: Int) -> TestEvent { self.action(.impression, id: id) }

    /// What happened to an in-app message; `id` makes it a fact of its own.
    package static func inApp(
        _ what: Sightline_V1_InAppInteraction.OneOf_Event, id: Int, message: String = "welcome",
        campaign: String = "Welcome", subject: String = ""
    ) -> TestEvent {
        .with { event in
            event.eventID = "event-\(id)"
            event.subjectID = subject
            event.inApp.messageID = message
            event.inApp.campaignName = campaign
            event.inApp.event = what
        }
    }

    /// A notification that a known subject opened: a click and an open.
    package static func opened(id: Int) -> TestEvent {
        var event = self.push(.opened, id: id)
        event.subjectID = "subject-\(id)"
        return event
    }

    /// A notification that arrived, with every field that a row has a column for.
    package static func full(id: Int) -> TestEvent {
        var event = self.push(.received, id: id, on: .ios, app: "com.example.app")
        event.eventID = "event-\(id)"
        event.occurTime.seconds = 1_799_999_999
        event.occurTime.nanos = 123_456_789
        event.platform = .ios
        event.subjectID = "subject-\(id)"
        event.consent = .optedIn
        return event
    }

    /// The bytes of a stream's request.
    package static func request(
        _ sequence: UInt64, _ events: [TestEvent] = [], reportAccepted: Bool = false
    ) throws -> [UInt8] {
        try Sightline_V1_StreamEventsRequest.with { request in
            request.sequence = sequence
            request.events = events
            if reportAccepted { request.options.reportAccepted = true }
        }.serializedBytes()
    }

    private static func interaction(
        _ kind: Sightline_V1_PushInteractionKind, _ messageID: String,
        on platform: Sightline_V1_Platform, _ delivery: String = "56c4", flag: String? = nil
    ) -> Sightline_V1_PushInteraction {
        .with { push in
            push.kind = kind
            if platform == .ios {
                push.apns.deliveryID = delivery
                push.apns.messageID = messageID
                if let flag { push.apns.acsDeliveryTracking = flag }
                if kind == .received { push.apns.aps.alert.title = "Sale" }
            } else {
                push.fcm.data.deliveryID = delivery
                push.fcm.data.messageID = messageID
                if let flag { push.fcm.data.acsDeliveryTracking = flag }
                if kind == .received { push.fcm.data.title = "Sale" }
            }
        }
    }

    private static func messageID(_ id: Int) -> String { "h" + String(id, radix: 16) }
}
