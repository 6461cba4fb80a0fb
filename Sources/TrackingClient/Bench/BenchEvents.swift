// The events of a load, encoded: valid, of a given size, with placeholders where ids go.
internal import SightlineProtos
internal import SwiftProtobuf

/// Encodes the events of a mix.
enum BenchEvents {
    /// Stands where an event's 16 digits go: in its event_id and in its message id.
    static let placeholder = "################"
    /// Events after which the kinds of a mix repeat.
    static let cycle = 20

    enum Kind: CaseIterable {
        case opened
        case received
        case dismissed
        case trackAction
    }

    /// The kind of the event at a place: the mix is spread, so that no run of one kind stands out.
    static func kind(at place: Int, of mix: BenchPlan.Mix) -> Kind {
        guard mix == .real else { return .opened }
        switch place % self.cycle * 7 % self.cycle {
        case ..<12: return .received
        case ..<17: return .opened
        case ..<19: return .dismissed
        default: return .trackAction
        }
    }

    /// An event of exactly `size` bytes, by the length of its text and its subject. A track action
    /// has no text: it ends where its subject may not grow any more.
    static func encoded(_ kind: Kind, size: Int, seconds: Int64) throws -> [UInt8] {
        let shortest = try self.bytes(kind, text: 0, subject: 26, seconds: seconds).count
        let missing = max(0, size - shortest)
        if kind == .trackAction {
            return try self.bytes(
                kind, text: 0, subject: min(26 + missing, 250), seconds: seconds)
        }
        // Each length takes a byte or two of its own, which the text has to leave room for.
        for subject in 26..<32 {
            for text in max(0, missing - 24)...missing {
                let bytes = try self.bytes(kind, text: text, subject: subject, seconds: seconds)
                if bytes.count == size { return bytes }
            }
        }
        throw BenchPlanError(reason: "--event-bytes \(size): no such event can be made")
    }

    private static func bytes(
        _ kind: Kind, text: Int, subject: Int, seconds: Int64
    ) throws -> [UInt8] {
        var event = Sightline_V1_TrackingEvent()
        event.eventID = self.placeholder
        event.occurTime.seconds = seconds
        event.occurTime.nanos = 123_000_000
        event.appID = "com.example.shop"
        event.platform = kind == .received ? .android : .ios
        event.subjectID = String(repeating: "7", count: subject)
        event.consent = .optedIn
        event.traceContext.traceparent =
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        switch kind {
        case .opened: event.push = self.apns(.opened, text: text)
        case .dismissed: event.push = self.apns(.dismissed, text: text)
        case .received: event.push = self.fcm(text: text)
        case .trackAction:
            event.trackAction.broadlogID = "h" + self.placeholder
            event.trackAction.deliveryID = "d57fd6"
            event.trackAction.action = .click
        }
        return try event.serializedBytes()
    }

    private static func apns(
        _ kind: Sightline_V1_PushInteractionKind, text: Int
    ) -> Sightline_V1_PushInteraction {
        .with { push in
            push.apns.aps.alert.title = "Back in stock"
            push.apns.aps.alert.body = self.text(text)
            push.apns.deliveryID = "d57fd6"
            push.apns.messageID = "h" + self.placeholder
            push.apns.acsDeliveryTracking = "on"
            push.kind = kind
            push.appState = .background
        }
    }

    private static func fcm(text: Int) -> Sightline_V1_PushInteraction {
        .with { push in
            push.fcm.data.deliveryID = "d57fd6"
            push.fcm.data.messageID = "h" + self.placeholder
            push.fcm.data.acsDeliveryTracking = "on"
            push.fcm.data.title = "Back in stock"
            push.fcm.data.body = self.text(text)
            push.kind = .received
            push.appState = .background
        }
    }

    private static func text(_ length: Int) -> String {
        let sentence = "What you looked at is back in your size, and ships free until Sunday. "
        let count = length / sentence.utf8.count + 1
        return String(String(repeating: sentence, count: count).prefix(length))
    }
}
