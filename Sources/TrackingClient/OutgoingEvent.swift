// One event on its way to the server, and what became of it: the two ends of the client's work.
package import SightlineProtos
internal import SwiftProtobuf

/// Where an event was read, for messages to people.
package struct EventOrigin: Sendable, Equatable, CustomStringConvertible {
    /// The file as the user named it; `-` is standard input.
    package var file: String
    /// The line in that file, from 1; `nil` where the file holds one event.
    package var line: Int?

    /// Names a place.
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

/// An event with what the client must know of it.
package struct OutgoingEvent: Sendable {
    /// The event as it goes to the server.
    package let event: Sightline_V1_TrackingEvent
    /// Where it was read.
    package let origin: EventOrigin
    /// Bytes that it takes in a request: its own, its tag and its length.
    package let requestByteCount: Int

    /// Measures an event. Throws where SwiftProtobuf cannot encode it.
    package init(_ event: Sightline_V1_TrackingEvent, origin: EventOrigin) throws {
        let bytes: [UInt8] = try event.serializedBytes()
        self.event = event
        self.origin = origin
        self.requestByteCount = 1 + Self.varintByteCount(bytes.count) + bytes.count
    }

    private static func varintByteCount(_ value: Int) -> Int {
        var rest = value >> 7
        var count = 1
        while rest > 0 {
            rest >>= 7
            count += 1
        }
        return count
    }
}

/// An event's final verdict.
package struct EventOutcome: Sendable, Equatable {
    /// Where the event was read.
    package let origin: EventOrigin
    /// The server's result, or the client's own for an event that no request can hold.
    package let result: Sightline_V1_EventResult

    /// Joins a result to the place that its event came from.
    package init(origin: EventOrigin, result: Sightline_V1_EventResult) {
        self.origin = origin
        self.result = result
    }
}
