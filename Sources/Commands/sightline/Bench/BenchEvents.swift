internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules

/// Encodes valid events of a given size, with placeholders for their ids.
enum BenchEvents {
    /// Replaced by the 16 digits of an event's number, in its event_id and its message id.
    static let placeholder = "################"
    /// The period of the kinds in a mix.
    static let cycle = 20

    enum Kind: CaseIterable {
        case opened
        case received
        case dismissed
        case trackAction
    }

    /// The kind of the event at an index. Kinds are interleaved, so that none occurs in long runs.
    static func kind(at place: Int, of mix: BenchPlan.Mix) -> Kind {
        guard mix == .real else { return .opened }
        switch place % self.cycle * 7 % self.cycle {
        case ..<12: return .received
        case ..<17: return .opened
        case ..<19: return .dismissed
        default: return .trackAction
        }
    }

    /// Encodes an event of exactly `size` bytes, padding its text and subject. A track action has
    /// no text, so its size is limited by that of its subject.
    static func encoded(_ kind: Kind, size: Int, seconds: Int64) throws -> [UInt8] {
        let shortest = try self.bytes(kind, text: 0, subject: 26, seconds: seconds).count
        let missing = max(0, size - shortest)
        if kind == .trackAction {
            return try self.bytes(
                kind, text: 0, subject: min(26 + missing, 250), seconds: seconds)
        }
        // Length prefixes take one or two bytes, so try texts that leave room for them.
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
        event.appID = BenchMark.appID
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
            event.trackAction.deliveryID = BenchMark.deliveryID
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
            push.apns.deliveryID = BenchMark.deliveryID
            push.apns.messageID = "h" + self.placeholder
            push.apns.acsDeliveryTracking = "on"
            push.kind = kind
            push.appState = .background
        }
    }

    private static func fcm(text: Int) -> Sightline_V1_PushInteraction {
        .with { push in
            push.fcm.data.deliveryID = BenchMark.deliveryID
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
