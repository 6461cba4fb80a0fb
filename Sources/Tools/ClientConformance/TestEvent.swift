internal import SightlineProtos
internal import SwiftProtobuf

/// The events of a run: valid ones, each with its number in its ids.
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
            event.trackAction.deliveryID = "1f"
            event.trackAction.broadlogID = "h\(String(0xC0_0000 + number, radix: 16))"
            event.trackAction.action = .open
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
