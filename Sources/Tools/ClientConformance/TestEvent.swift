internal import SightlineProtos
internal import SwiftProtobuf

/// The events of a run: valid ones, each with its number in its ids. Two of three are of a device,
/// and one is a sender's, whose library may be the same.
enum TestEvent {
    /// The id of the event with a number, from 0.
    static func id(_ number: Int) -> String { "event-\(number)" }

    /// A line for the client's standard input.
    static func line(_ number: Int) throws -> String {
        try Self.event(number).jsonString() + "\n"
    }

    static func event(_ number: Int) -> Sightline_V1_TrackingEvent {
        .with { event in
            event.eventID = Self.id(number)
            event.appID = "sightline-conformance"
            event.subjectID = "subject-\(number % 7)"
            let broadlogID = "h\(String(0xC0_0000 + number, radix: 16))"
            guard number % 3 == 2 else {
                event.trackAction.deliveryID = "1f"
                event.trackAction.broadlogID = broadlogID
                event.trackAction.action = .open
                return
            }
            event.pushSend = Self.send(number)
            event.pushSend.deliveryID = "1f"
            event.pushSend.broadlogID = broadlogID
        }
    }

    /// What a sender did: an attempt that failed, or the one after it.
    private static func send(_ number: Int) -> Sightline_V1_PushSend {
        .with { send in
            send.attempt = Int32(truncatingIfNeeded: number % 2 + 1)
            if number % 2 == 0 {
                send.outcome = .failed
                send.reason = .throttled
                send.providerCode = "TooManyRequests"
            } else {
                send.outcome = .sent
                send.providerMessageID = "message-\(number)"
                send.display = .app
            }
        }
    }

    /// The number of an event as it came; nil for one that differs from what the client was given.
    static func number(_ event: Sightline_V1_TrackingEvent, count: Int) -> Int? {
        guard let last = event.eventID.split(separator: "-").last, let number = Int(last),
            (0..<count).contains(number)
        else { return nil }
        var copy = event
        // A client may put its own trace in.
        copy.clearTraceContext()
        return copy == Self.event(number) ? number : nil
    }
}
