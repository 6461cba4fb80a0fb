// Events and answers for the client's tests.
internal import SightlineClient
internal import SightlineProtos
internal import SwiftProtobuf

enum TestEvents {
    /// An event with an id and nothing else.
    static func event(_ id: String) throws -> OutgoingEvent {
        var event = Sightline_V1_TrackingEvent()
        event.eventID = id
        return try OutgoingEvent(event, origin: EventOrigin(file: "test", line: 1))
    }

    /// Events e0, e1, …, each of 6 bytes in a request (its own 4, tag and length) up to e9.
    static func events(_ range: Range<Int>) throws -> [OutgoingEvent] {
        try range.map { try self.event("e\($0)") }
    }

    /// An answer that settles all up to a sequence.
    static func ack(
        _ sequence: UInt64, results: [Sightline_V1_EventResult] = []
    ) -> Sightline_V1_StreamEventsResponse {
        var response = Sightline_V1_StreamEventsResponse()
        response.durableSequence = sequence
        response.results = results
        return response
    }

    /// The result of an accepted event.
    static func accepted(_ id: String) -> Sightline_V1_EventResult {
        var result = Sightline_V1_EventResult()
        result.eventID = id
        result.verdict = .accepted
        return result
    }

    /// One event's result.
    static func result(
        _ sequence: UInt64, _ index: UInt32?, _ verdict: Sightline_V1_Verdict
    ) -> Sightline_V1_EventResult {
        var result = Sightline_V1_EventResult()
        result.sequence = sequence
        if let index { result.index = index }
        result.verdict = verdict
        return result
    }
}

extension UnacknowledgedRequests.Step {
    /// The request that is to be written.
    var request: Sightline_V1_StreamEventsRequest? {
        if case .write(let request) = self { return request }
        return nil
    }

    /// Whether there is nothing to do for now.
    var isWait: Bool {
        if case .wait = self { return true }
        return false
    }

    /// Whether the writer is to stop.
    var isFinish: Bool {
        if case .finish = self { return true }
        return false
    }
}
