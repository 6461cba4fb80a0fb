package import SightlineProtos

/// The source of an event, for error messages.
package struct EventOrigin: Sendable, Equatable, CustomStringConvertible {
    /// The file as the user named it; `-` is standard input.
    package var file: String
    /// The line in the file, from 1; nil if the file is a single event.
    package var line: Int?

    /// Creates an origin.
    package init(file: String, line: Int? = nil) {
        self.file = file
        self.line = line
    }

    /// `file:line`, or the file alone.
    package var description: String {
        guard let line = self.line else { return self.file }
        return "\(self.file):\(line)"
    }
}

/// An event to send.
package struct OutgoingEvent: Sendable {
    /// The event.
    package let event: Sightline_V1_TrackingEvent
    /// The event's source.
    package let origin: EventOrigin

    /// Joins an event with its origin.
    package init(_ event: Sightline_V1_TrackingEvent, origin: EventOrigin) {
        self.event = event
        self.origin = origin
    }
}

/// The final verdict on an event.
package struct EventOutcome: Sendable, Equatable {
    /// The event's source.
    package let origin: EventOrigin
    /// The server's result, or a local one if the event exceeds every request.
    package let result: Sightline_V1_EventResult

    /// Creates an outcome.
    package init(origin: EventOrigin, result: Sightline_V1_EventResult) {
        self.origin = origin
        self.result = result
    }
}
